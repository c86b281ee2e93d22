use kem_core::Bytes;

use crate::compress::{Bits, Width};
use crate::poly::{Poly, PolyVec};
use crate::sample::{Cbd, Eta};

/// A parameter set (FIPS 203 section 8, table 2). The sets of this crate are the only ones.
pub trait Params: Sizes {}

/// k = 2, eta1 = 3, du = 10, dv = 4.
pub enum P512 {}
/// k = 3, eta1 = 2, du = 10, dv = 4.
pub enum P768 {}
/// k = 4, eta1 = 2, du = 11, dv = 5.
pub enum P1024 {}

impl Params for P512 {}
impl Params for P768 {}
impl Params for P1024 {}

/// Sizes and types behind [`Params`]; not exported, so that nobody makes another set.
pub trait Sizes: Sized {
    const K: usize;
    type Eta1: Eta;
    type Du: Width;
    type Dv: Width;
    type PolyVec: PolyVec;
    type Ek: Bytes;
    type Dk: Bytes;
    type Ct: Bytes;

    /// Evaluated by every entry point: a wrong size does not build.
    const CHECKED: () = {
        assert!(Self::Ek::LEN == 384 * Self::K + 32);
        assert!(Self::Dk::LEN == 768 * Self::K + 96);
        assert!(Self::Ct::LEN == 32 * (Self::Du::BITS * Self::K + Self::Dv::BITS));
    };
}

impl Sizes for P512 {
    const K: usize = 2;
    type Eta1 = Cbd<3>;
    type Du = Bits<10>;
    type Dv = Bits<4>;
    type PolyVec = [Poly; 2];
    type Ek = [u8; 800];
    type Dk = [u8; 1632];
    type Ct = [u8; 768];
}

impl Sizes for P768 {
    const K: usize = 3;
    type Eta1 = Cbd<2>;
    type Du = Bits<10>;
    type Dv = Bits<4>;
    type PolyVec = [Poly; 3];
    type Ek = [u8; 1184];
    type Dk = [u8; 2400];
    type Ct = [u8; 1088];
}

impl Sizes for P1024 {
    const K: usize = 4;
    type Eta1 = Cbd<2>;
    type Du = Bits<11>;
    type Dv = Bits<5>;
    type PolyVec = [Poly; 4];
    type Ek = [u8; 1568];
    type Dk = [u8; 3168];
    type Ct = [u8; 1568];
}
