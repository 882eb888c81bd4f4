//! Lifting through the specifications: every processor, odd bytes, and bytes that kill the library.

use parallax_ir::Instruction;
use parallax_sleigh::{LANGUAGES, Language, LiftError, Lifter, Specification};
use std::rc::Rc;

fn lifter(name: &str) -> Lifter {
    Lifter::new(Language::find(name).expect("a processor of that name")).expect("its specification loads")
}

/// One instruction per processor that every programmer of it knows: no-operation and return.
#[test]
fn every_processor_lifts() {
    let known: &[(&str, &[u8], &str)] = &[
        ("x86-64", &[0xc3], "ret"),
        ("x86", &[0xc3], "ret"),
        ("x86-16", &[0xc3], "ret"),
        ("powerpc", &[0x4e, 0x80, 0x00, 0x20], "blr"),
        ("powerpc64", &[0x4e, 0x80, 0x00, 0x20], "blr"),
        ("powerpc64le", &[0x20, 0x00, 0x80, 0x4e], "blr"),
        ("aarch64", &[0xc0, 0x03, 0x5f, 0xd6], "ret"),
        ("arm", &[0x1e, 0xff, 0x2f, 0xe1], "bx lr"),
        ("thumb", &[0x70, 0x47], "bx lr"),
        ("riscv64", &[0x82, 0x80], "ret"),
        ("mips", &[0x03, 0xe0, 0x00, 0x08, 0, 0, 0, 0], "jr ra"),
        ("mipsel", &[0x08, 0x00, 0xe0, 0x03, 0, 0, 0, 0], "jr ra"),
    ];
    assert_eq!(known.len(), LANGUAGES.len());
    for (name, bytes, text) in known {
        let mut lifter = lifter(name);
        let instruction = lifter.lift(0x1000, bytes).unwrap_or_else(|error| panic!("{name}: {error}"));
        assert_eq!(instruction.text.to_lowercase(), *text, "{name}");
        assert_eq!(
            usize::from(instruction.length),
            bytes.len(),
            "{name}: a delay slot belongs to its branch"
        );
        assert!(instruction.ends_block(), "{name}");
    }
}

/// What sets the rounding mode as well where version 3.0 of the architecture is known only reads elsewhere.
#[test]
fn a_later_way_of_reading_the_status_is_the_old_one_on_old_processors() {
    let bytes = [0xfc, 0x17, 0x04, 0x8e];
    assert_eq!(lifter("powerpc").lift(0x1000, &bytes).unwrap().text, "mffs f0");
    assert_eq!(lifter("powerpc64").lift(0x1000, &bytes).unwrap().text, "mffscrni f0");
}

/// `vadduhm` crashes the library nearly always. That must cost one instruction and nothing else; when it does not crash, it
/// must be that instruction. A crash that comes every time is tested beside the worker.
#[test]
fn a_crash_of_the_library_is_an_undecodable_instruction() {
    let mut lifter = lifter("powerpc");
    let vadduhm = [0x10, 0x22, 0x18, 0x40];
    let blr = [0x4e, 0x80, 0x00, 0x20];
    let check = |lifted: Result<Rc<Instruction>, LiftError>, at: u64| match lifted {
        Ok(instruction) => assert_eq!(instruction.text, "vadduhm v1,v2,v3"),
        Err(LiftError::Undecodable { address, .. }) => assert_eq!(address, at),
        Err(error) => panic!("{error}"),
    };
    for _ in 0..3 {
        check(lifter.lift(0x1000, &vadduhm), 0x1000);
        lifter.lift(0x2000, &blr).expect("the next request gets a fresh process");
        lifter.forget();
    }
    // A good instruction in front of the fatal one is lifted all the same.
    let run = [blr, vadduhm].concat();
    lifter.lift(0x3000, &run).expect("only the second is fatal");
    check(lifter.lift(0x3004, &run[4..]), 0x3004);
}

#[test]
fn odd_bytes_are_errors_with_an_address() {
    let mut lifter = lifter("powerpc");
    for bytes in [&[][..], &[0x4e], &[0, 0, 0, 0]] {
        let error = lifter.lift(0xdead_0000, bytes).map(|i| i.text.clone()).expect_err("not an instruction");
        assert!(error.to_string().contains("0xdead0000"), "{error}");
    }
}

/// What changes under the cache's feet is lifted anew.
/// The specification knows these, but no processor has been asked whether it is right.
#[test]
fn what_is_not_modelled_is_refused_by_name() {
    let refused: &[(&str, &[u8], &str)] = &[
        (
            "x86-64",
            &[0x62, 0xf1, 0x7c, 0x48, 0x58, 0xc1],
            "vaddps zmm0,zmm0,zmm1) is beyond this program: AVX-512",
        ),
        ("x86-64", &[0x8f, 0xe9, 0x78, 0x80, 0xc1], "vfrczps xmm0,xmm1) is beyond this program: XOP"),
        ("x86-64", &[0x0f, 0x0f, 0xc1, 0x9e], "pfadd mm0,mm1) is beyond this program: 3DNow!"),
        ("x86-64", &[0x0f, 0xc7, 0xf0], "rdrand eax"),
        ("x86-64", &[0x0f, 0x01, 0x00], "sgdt"),
        ("x86-64", &[0x0f, 0x02, 0xc1], "lar eax,ecx"),
        ("x86-64", &[0x66, 0x0f, 0xc8], "bswap ax"),
        ("x86", &[0xea, 0, 0, 0, 0, 0x33, 0], "jmp far 0,0033h"),
        ("x86", &[0x8e, 0xd8], "mov ds,ax"),
        ("x86-16", &[0xcd, 0x10], "int 10h"),
        ("x86-16", &[0xea, 0, 0, 0, 0xf0], "jmp far"),
        ("x86-16", &[0xec], "in al,dx"),
        ("x86-16", &[0xc5, 0xf8, 0x58, 0xc1], "vaddps"),
        ("powerpc", &[0x10, 0x22, 0x18, 0x00], "vaddubm"),
        ("powerpc", &[0x7c, 0x00, 0x18, 0xce], "lvx"),
        ("powerpc64", &[0xf0, 0x00, 0x04, 0xd0], "xxlxor"),
        ("powerpc64le", &[0x99, 0x1e, 0x00, 0x7c], "lxvd2x"),
    ];
    for (name, bytes, text) in refused {
        match lifter(name).lift(0x1000, bytes) {
            Err(error @ LiftError::Unsupported { .. }) => {
                assert!(error.to_string().contains(text), "{error} does not say {text}");
            }
            other => panic!("{text}: {other:?}"),
        }
    }
    // A prefix that makes no sense makes no instruction.
    let locked = lifter("x86-64").lift(0x1000, &[0xf0, 0x89, 0xc8]);
    assert!(matches!(locked, Err(LiftError::Undecodable { .. })), "{locked:?}");
}

#[test]
fn the_cache_looks_at_the_bytes() {
    let mut lifter = lifter("riscv64");
    let nop = lifter.lift(0x1000, &[0x01, 0x00]).unwrap();
    let ret = lifter.lift(0x1000, &[0x82, 0x80]).unwrap();
    assert_ne!(nop.text, ret.text);
}

#[test]
fn files_that_are_no_specification_are_refused() {
    for sla in [&b""[..], b"sla\x04", b"sla\x04garbage", &[0x7f; 4096]] {
        let specification = Specification::custom("mine", sla.to_vec(), None);
        let error = Lifter::custom(specification).err().expect("no specification");
        assert!(matches!(error, LiftError::Specification { .. }), "{error}");
    }
    let mut truncated = Language::find("riscv64").unwrap().specification();
    truncated.sla.truncate(truncated.sla.len() / 2);
    assert!(Lifter::custom(truncated).is_err());
}

/// A random walk over the encodings of every processor: whatever comes back, we are still here, and what is lifted is
/// well-formed enough to have a length.
#[test]
fn random_bytes_never_take_us_down() {
    let mut seed = 0x9e37_79b9_7f4a_7c15u64;
    let mut random = || {
        seed ^= seed << 13;
        seed ^= seed >> 7;
        seed ^= seed << 17;
        seed
    };
    for language in LANGUAGES {
        let mut lifter = Lifter::new(language).unwrap();
        let mut lifted = 0;
        for round in 0..300u64 {
            let bytes: Vec<u8> = (0..4).flat_map(|_| random().to_le_bytes()).collect();
            if let Ok(instruction) = lifter.lift(0x10000 + 64 * round, &bytes) {
                assert!(instruction.length > 0);
                lifted += 1;
            }
        }
        assert!(lifted > 10, "{}: {lifted} of 300 random words are instructions", language.name);
    }
}

/// A specification as its author wrote it gives a processor like any other.
#[test]
fn a_specification_in_source_form_is_compiled() {
    let source = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../corpus/sleigh/tiny.slaspec");
    let sla = parallax_sleigh::compile(&source).unwrap();
    let mut lifter = Lifter::custom(Specification::custom("tiny", sla, None)).unwrap();
    let add = lifter.lift(0x100, &[0x25, 0x00]).unwrap();
    assert_eq!(add.text.to_lowercase(), "add b, b");
    assert_eq!(add.length, 2);
    assert!(lifter.lift(0x100, &[0xf0, 0x00]).is_err(), "not an instruction of it");
}

#[test]
fn a_source_that_is_no_specification_is_refused() {
    let folder = std::path::Path::new(env!("CARGO_TARGET_TMPDIR"));
    for (name, text) in
        [("empty", ""), ("words", "this is no specification"), ("open", "define endian=big;\n:x is {")]
    {
        let file = folder.join(format!("{name}.slaspec"));
        std::fs::write(&file, text).unwrap();
        let error = parallax_sleigh::compile(&file).expect_err(name);
        assert!(!error.to_string().is_empty());
    }
    assert!(parallax_sleigh::compile(&folder.join("nowhere.slaspec")).is_err());
}
