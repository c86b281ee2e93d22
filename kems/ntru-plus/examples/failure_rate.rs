//! Decryption failure rates of NTRU+: `cargo run --release -p ntru-plus --example failure_rate`.
//!
//! Decryption fails where a coefficient of 3(gr + mf') + m leaves [-1728, 1728]; g, r, m and f' are centred binomial with
//! eta = 1. Modulo x^n - x^(n/2) + 1 a coefficient of a product is, at worst, a sum of n/2 products a*b and n/2 products
//! a*(b + b'). The terms are taken as independent and the n coefficients by the union bound: an estimate, not a proof.

/// Distribution of a small integer: `weights[i]` is the probability of `i - reach`.
#[derive(Clone)]
struct Distribution {
    weights: Vec<f64>,
}

fn main() {
    let binomial = Distribution {
        weights: vec![0.25, 0.5, 0.25],
    };
    let plain = binomial.product(&binomial);
    let folded = binomial.product(&binomial.sum(&binomial));
    for n in [768, 864, 1152] {
        // Two ring products, gr and mf', with n/2 terms of each kind.
        let noise = plain.repeated(n).sum(&folded.repeated(n));
        let mut coefficient = 0.0;
        for (value, weight) in noise.values() {
            for (message, probability) in binomial.values() {
                if (3 * value + message).abs() > 1728 {
                    coefficient += weight * probability;
                }
            }
        }
        println!("NTRU+{n}: 2^{:.1}", (coefficient * f64::from(n)).log2());
    }
}

impl Distribution {
    fn reach(&self) -> usize {
        self.weights.len() / 2
    }

    fn values(&self) -> impl Iterator<Item = (i64, f64)> {
        let reach = self.reach() as i64;
        (-reach..).zip(self.weights.iter().copied())
    }

    /// Of the sum of two independent values. Only non-negative terms are added, so tiny tails stay accurate.
    fn sum(&self, other: &Self) -> Self {
        let mut weights = vec![0.0; self.weights.len() + other.weights.len() - 1];
        for (i, a) in self.weights.iter().enumerate() {
            for (j, b) in other.weights.iter().enumerate() {
                weights[i + j] += a * b;
            }
        }
        Self { weights }
    }

    /// Of the product of two independent values.
    fn product(&self, other: &Self) -> Self {
        let reach = (self.reach() * other.reach()) as i64;
        let mut weights = vec![0.0; 2 * reach as usize + 1];
        for (a, p) in self.values() {
            for (b, q) in other.values() {
                weights[(a * b + reach) as usize] += p * q;
            }
        }
        Self { weights }
    }

    /// Of the sum of `count` independent values.
    fn repeated(&self, count: u32) -> Self {
        let mut total = Self { weights: vec![1.0] };
        let mut doubled = self.clone();
        for bit in 0..32 - count.leading_zeros() {
            if count >> bit & 1 == 1 {
                total = total.sum(&doubled);
            }
            doubled = doubled.sum(&doubled);
        }
        total
    }
}
