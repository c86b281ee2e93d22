use ctru_light::self_check::{decryption_agrees, ring_agrees};

use crate::draw::Draw;

pub(super) fn ring() -> bool {
    let mut draw = Draw::new(4);
    let random = (0..20).all(|_| ring_agrees(|| (draw.word() % 1794) as i16 - 769));
    // Of 1024 draws the first half is one factor.
    let patterns: [fn(usize) -> bool; 5] = [|_| true, |i| i % 2 == 0, |i| i % 16 < 8, |i| i < 256, |i| i < 512];
    let bounds = patterns.into_iter().all(|low| {
        [(-769, 1024), (1024, -769), (0, 1), (768, 769)]
            .into_iter()
            .all(|(x, y)| {
                let mut i = 0;
                ring_agrees(|| {
                    i += 1;
                    if low(i - 1) { x } else { y }
                })
            })
    });
    random && bounds
}

pub(super) fn decryption() -> bool {
    let mut draw = Draw::new(5);
    let random = (0..20).all(|_| {
        let (mut f, mut ct) = ([0; 192], [0; 512]);
        draw.fill(&mut f);
        draw.fill(&mut ct);
        decryption_agrees(&f, &ct)
    });
    let codes = [0x00, 0xff, 0x92, 0x49, 0x24, 0xb6, 0x6d, 0xdb];
    let bounds = codes.into_iter().all(|f| {
        [0, 0x3f, 0x40, 0x7f, 0x80, 0xc0, 0xff]
            .into_iter()
            .all(|ct| decryption_agrees(&[f; 192], &[ct; 512]))
    });
    random && bounds
}
