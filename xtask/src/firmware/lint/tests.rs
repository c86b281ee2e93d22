use super::{forbidden_symbols, instruction, lost_products};

/// A listing as `avr-objdump -d` prints it, from the instructions only.
fn listing(instructions: &[&str]) -> String {
    let mut text = String::from("\nimage.elf:     file format elf32-avr\n\n000001f4 <victim>:\n");
    for (index, instruction) in instructions.iter().enumerate() {
        let instruction = instruction.replacen(' ', "\t", 1);
        text += &format!("     {:x}:\t0f 92       \t{instruction}\t; 0x3f\n", 0x1f4 + 2 * index);
    }
    text
}

fn found(instructions: &[&str]) -> Vec<String> {
    let found = lost_products(&listing(instructions));
    found
        .into_iter()
        .map(|hit| format!("{} {}", hit.address, hit.instruction))
        .collect()
}

#[test]
fn a_product_stored_through_a_saved_sreg_is_found() {
    let trap = [
        "mul r16, r17",
        "in r0, 0x3f",
        "adiw r28, 0x20",
        "std Y+63, r0",
        "sbiw r28, 0x20",
        "out 0x3f, r0",
    ];
    assert_eq!(found(&trap), ["1fa std Y+63, r0"]);
}

#[test]
fn the_low_byte_may_wait_while_the_high_one_is_stored() {
    let trap = [
        "mulsu r16, r17",
        "in r0, 0x3f",
        "adiw r28, 0x20",
        "std Y+63, r1",
        "sbiw r28, 0x20",
        "out 0x3f, r0",
        "eor r1, r1",
        "mov r24, r0",
    ];
    assert_eq!(found(&trap), ["202 mov r24, r0"]);
}

#[test]
fn every_way_to_read_the_stale_byte_is_found() {
    for read in [
        "add r24, r0",
        "adc r0, r1",
        "st X+, r0",
        "sts 0x0100, r0",
        "push r0",
        "movw r24, r0",
        "cpse r0, r1",
        "inc r0",
    ] {
        assert_eq!(found(&["fmul r16, r17", "in r0, 0x3f", read]).len(), 1, "{read}");
    }
}

#[test]
fn the_same_sequence_is_sound_when_the_product_was_taken_before() {
    let sound = [
        "mul r16, r17",
        "movw r24, r0",
        "eor r1, r1",
        "eor r0, r0",
        "in r0, 0x3f",
        "adiw r28, 0x20",
        "std Y+63, r24",
        "sbiw r28, 0x20",
        "out 0x3f, r0",
    ];
    assert_eq!(found(&sound), [""; 0]);
}

#[test]
fn a_saved_sreg_without_a_product_is_sound() {
    // The stack pointer is written this way in every prologue.
    assert_eq!(
        found(&["in r0, 0x3f", "cli", "out 0x3e, r29", "out 0x3f, r0", "push r0"]),
        [""; 0]
    );
}

#[test]
fn a_new_value_a_branch_or_a_label_ends_the_suspicion() {
    for end in [
        "mov r0, r18",
        "lpm r0, Z",
        "rjmp .+2",
        "call 0x1234",
        "brne .-6",
        "mul r2, r3",
        "clr r0",
        "ld r0, X+",
    ] {
        assert_eq!(
            found(&["mul r16, r17", "in r0, 0x3f", end, "mov r24, r0"]),
            [""; 0],
            "{end}"
        );
    }
    let text = listing(&["mul r16, r17", "in r0, 0x3f"]) + "00000300 <next>:\n     300:\t0f 92       \tpush\tr0\n";
    assert_eq!(lost_products(&text), []);
}

#[test]
fn another_register_of_the_io_space_is_no_saved_sreg() {
    assert_eq!(found(&["mul r16, r17", "in r0, 0x3d", "mov r24, r0"]), [""; 0]);
}

#[test]
fn lines_of_a_real_listing_are_understood() {
    let line = "     9c2:\t0f b6       \tin\tr0, 0x3f\t; 63";
    assert_eq!(instruction(line), Some(("9c2", "in", "r0, 0x3f")));
    assert_eq!(instruction("     9c4:\t08 95       \tret"), Some(("9c4", "ret", "")));
    assert_eq!(instruction("Disassembly of section .text:"), None);
    assert_eq!(instruction("\t..."), None);
}

#[test]
fn overflow_helpers_are_found_by_their_whole_name() {
    let symbols = "000012a4 T __mulosi4\n000012f0 T main\n         U __muloti4\n00001300 t my__mulodi4_twin\n";
    assert_eq!(forbidden_symbols(symbols), ["__mulosi4", "__muloti4"]);
    assert_eq!(forbidden_symbols("000012f0 T __mulsi3\n"), [""; 0]);
}
