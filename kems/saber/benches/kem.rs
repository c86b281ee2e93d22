//! Every operation of the three sets, next to PQClean's portable C.
fn main(){}
