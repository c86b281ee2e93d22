//! The meter against regions whose cycles follow from the instruction set manual.

use std::{
    path::{Path, PathBuf},
    process::Command,
};

use kemqtt_sim::{
    avr::{Avr, Setup, Stop},
    elf::Image,
};

#[test]
fn marks_count_cycles_and_stack_of_the_region() {
    let mut avr = started("marks");
    avr.uart_send(b"!");
    assert_eq!(avr.run(100_000), Stop::Exit(9));
    let [empty, work] = avr.marks() else {
        panic!("two regions, not {:?}", avr.marks());
    };
    assert_eq!((empty.id, empty.cycles, empty.stack), (1, 0, 0));
    assert_eq!((work.id, work.cycles, work.stack), (2, 3 + 1 + 2 + 2 + 4, 3));
}

#[test]
fn uart_bytes_arrive_in_order_and_no_faster_than_the_line() {
    let mut avr = started("marks");
    avr.uart_send(b"twenty bytes or so!");
    // 11 bits of 32 cycles each, simavr always counts a parity bit, and a few cycles until the firmware looks.
    assert_eq!(avr.run(10 * 352), Stop::Cycles);
    let first = avr.uart_take();
    assert!((8..=9).contains(&first.len()), "{first:?}");
    assert_eq!(avr.run(400 * 20), Stop::Exit(9));
    assert_eq!([first, avr.uart_take()].concat(), b"twenty bytes or so!");
}

#[test]
fn the_eeprom_goes_in_and_comes_out() {
    let mut avr = started("marks");
    avr.set_eeprom(&[1, 2, 3]).expect("it fits");
    avr.uart_send(b"!");
    avr.run(100_000);
    assert_eq!(avr.eeprom()[..4], [1, 0x5a, 3, 0xff]);
    assert!(avr.set_eeprom(&[0; 4097]).is_err());
}

#[test]
fn a_stack_that_meets_the_variables_is_an_overflow() {
    // 16,100 of 16,384 bytes are taken, and the firmware recurses for ever.
    let mut avr = started("overflow");
    assert_eq!(avr.run(1_000_000), Stop::StackOverflow);
    // `_end` is at 0x100 + 16,100 + 4, the top at 0x40ff, and a return address has two bytes.
    assert!((280..=282).contains(&avr.stack()), "{}", avr.stack());
}

#[test]
fn a_frame_beyond_the_start_of_the_memory_is_an_overflow() {
    // 9,000 of 8,192 or 2,048 bytes at once, below the return address of `main`: the pointer comes out above the memory, where a push
    // would hit the host's.
    for (mcu, address_len) in [("atmega2560", 3), ("atmega328p", 2)] {
        let setup = Setup {
            mcu: mcu.into(),
            ..Setup::default()
        };
        let mut avr = Avr::load(&build_for("frame", mcu), &setup).expect("the image runs");
        assert_eq!(avr.run(1_000_000), Stop::StackOverflow, "{mcu}");
        assert_eq!(avr.stack(), 9_000 + address_len, "{mcu}");
    }
}

#[test]
fn an_eeprom_write_takes_its_time_and_a_worn_cell_keeps_its_byte() {
    let mut avr = started("eeprom");
    assert_eq!(avr.run(1_000_000), Stop::Exit(9));
    let [write, ..] = avr.marks() else { panic!("a region") };
    // 3.4 ms at 16 MHz, and a few cycles until the firmware looks.
    assert!((54_400..54_430).contains(&write.cycles), "{write:?}");
    assert_eq!(avr.eeprom()[..3], [0xff, 0x5a, 0xff]);

    let mut avr = started("eeprom");
    avr.set_eeprom(&[1, 2, 3]).expect("it fits");
    avr.wear_eeprom(1..2);
    assert_eq!(avr.run(1_000_000), Stop::Exit(9));
    assert_eq!(avr.eeprom()[..3], [1, 2, 3]);
}

#[test]
fn an_overrun_loses_a_byte_and_raises_the_flag() {
    let mut avr = started("marks");
    avr.overrun_uart_after(2);
    avr.uart_send(b"abcd!");
    assert_eq!(avr.run(100_000), Stop::Exit(9));
    assert_eq!(avr.uart_take(), b"abd!");
}

#[test]
fn flash_and_ram_are_those_of_avr_size() {
    let image = build("overflow");
    let sizes = Image::read(&image).and_then(|image| image.sizes()).expect("an image");
    let output = Command::new("avr-size").arg(&image).output().expect("avr-size runs");
    let table = String::from_utf8(output.stdout).expect("text");
    let numbers: Vec<u64> = table
        .lines()
        .nth(1)
        .expect("two lines")
        .split_whitespace()
        .map_while(|n| n.parse().ok())
        .collect();
    let [text, data, bss, ..] = numbers[..] else {
        panic!("{table}")
    };
    assert_eq!((sizes.flash, sizes.ram), (text + data, data + bss));
    assert!(bss > 16_000 && data > 0);
}

#[test]
fn an_image_that_does_not_fit_the_flash_is_refused() {
    let setup = Setup {
        mcu: "attiny13".into(),
        ..Setup::default()
    };
    let refused = Avr::load(&build("large"), &setup).err().expect("2 KB in 1 KB");
    assert!(refused.to_string().contains("the attiny13 has 1024"), "{refused}");
}

fn started(name: &str) -> Avr {
    Avr::load(&build(name), &Setup::default()).expect("the image runs")
}

fn build(name: &str) -> PathBuf {
    build_for(name, "atmega1284p")
}

fn build_for(name: &str, mcu: &str) -> PathBuf {
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("tests/images/{name}.S"));
    // Tests run at the same time: each has its own file.
    let test = std::thread::current().name().unwrap_or("test").replace(':', "_");
    let elf = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("{name}-{mcu}-{test}.elf"));
    let status = Command::new("avr-gcc")
        .arg(format!("-mmcu={mcu}"))
        .arg("-o")
        .args([&elf, &source])
        .status();
    assert!(status.expect("avr-gcc runs").success(), "{} builds", source.display());
    elf
}
