//! Code that changes, and goals that only look like an address with a trace.

use crate::home::{CODE, DATA, Home};
use iced_x86::code_asm::*;
use parallax_native::{Mistake, Options};

const OTHER: u64 = CODE + 0x1000;

fn start(home: &mut Home) {
    let cells = home.context();
    cells.general = [0; 16];
    cells.general[4] = DATA + 2048;
    (cells.flags, cells.fs) = (0x202, 0);
    cells.allow(1000, 4);
}

/// Calls a function on another page, directly or through a register, before and after that page changed.
pub fn changed_function(direct: bool, mistake: Option<Mistake>) -> Result<(), String> {
    let code = || -> Result<Vec<u8>, IcedError> {
        let mut a = CodeAssembler::new(64)?;
        a.mov(rbx, OTHER)?;
        if direct {
            // Longer than a call is followed for.
            (0..40).try_for_each(|_| a.nop())?;
            a.call(OTHER)?;
        } else {
            a.call(rbx)?;
        }
        a.hlt()?;
        a.assemble(CODE)
    };
    let code = code().expect("a program that can be assembled");
    let mut home = Home::new(&code, Options { mistake, ..Options::default() }, false);
    for value in [1, 2, 3] {
        // mov eax, value; ret
        home.change_code(OTHER, &[0xb8, value, 0, 0, 0, 0xc3]);
        for _ in 0..3 {
            start(&mut home);
            let came = home.run(CODE);
            let found = home.context().general[0];
            if found != u64::from(value) || !came.is_left {
                return Err(format!("the function gave {found} when it says {value}: {came:x?}"));
            }
        }
    }
    Ok(())
}

#[test]
fn changed_code_runs_as_it_is() {
    for direct in [true, false] {
        changed_function(direct, None).unwrap_or_else(|why| panic!("{why}"));
    }
}

/// Jumps to an address whose low half is that of a function, and whose high half is not.
pub fn half_target(mistake: Option<Mistake>) -> Result<(), String> {
    for high in [1 << 32, 1 << 46, 1 << 63, 0xffff_ffff << 32] {
        let code = || -> Result<Vec<u8>, IcedError> {
            let mut a = CodeAssembler::new(64)?;
            a.mov(rax, OTHER)?;
            a.call(rax)?;
            a.mov(rax, OTHER | high)?;
            a.call(rax)?;
            a.hlt()?;
            a.assemble(CODE)
        };
        let code = code().expect("a program that can be assembled");
        let mut home = Home::new(&code, Options { mistake, ..Options::default() }, false);
        // inc rbx; ret
        home.change_code(OTHER, &[0x48, 0xff, 0xc3, 0xc3]);
        start(&mut home);
        let came = home.run(CODE);
        let used = 1000 - home.context().left() - i64::from(came.unmade);
        let calls = home.context().general[3];
        // Two moves, two calls, the function once; nothing can be fetched at the second goal.
        if came.pc != OTHER | high || calls != 1 || used != 6 {
            return Err(format!("{calls} calls, {used} steps: {came:x?}"));
        }
    }
    Ok(())
}

#[test]
fn goals_are_compared_whole() {
    half_target(None).unwrap_or_else(|why| panic!("{why}"));
}

/// Two functions whose addresses share their low half take turns in one slot.
#[test]
fn everything_can_be_forgotten() {
    let code = [0x48, 0xff, 0xc3, 0xf4];
    let mut home = Home::new(&code, Options::default(), false);
    for turn in 1..5 {
        start(&mut home);
        let came = home.run(CODE);
        assert_eq!(
            (came.pc, home.context().general[3], home.context().left()),
            (CODE + 3, 1, 999),
            "turn {turn}"
        );
        home.forget();
        assert!(home.cache.is_empty());
    }
}
