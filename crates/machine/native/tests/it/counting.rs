//! Programs of random control flow that count their own instructions, in a register, without flags. No other engine is asked.

use crate::home::{CODE, DATA, Home};
use crate::lockstep::WAYS;
use iced_x86::BlockEncoderOptions;
use iced_x86::code_asm::*;
use parallax_native::{Mistake, Options};
use parallax_silicon::random::Random;

/// Blocks that lead to each other at random until R13 is used up. R15 counts instructions, R14 is a source of chance.
fn program(random: &mut Random) -> Result<(Vec<u8>, Vec<u64>), IcedError> {
    let mut a = CodeAssembler::new(64)?;
    let count = 2 + random.below(14) as usize;
    let mut labels: Vec<CodeLabel> = (0..count).map(|_| a.create_label()).collect();
    let mut end = a.create_label();
    for index in 0..count {
        let to = labels[random.below(count as u64) as usize];
        a.set_label(&mut labels[index])?;
        a.lea(r15, ptr(r15 + 3))?;
        a.dec(r13)?;
        a.js(end)?;
        // So many instructions follow in this block, the last of which leads on.
        let filling = random.below(24) as i32;
        let (chance, last) = (random.below(8), random.below(9));
        let flags = i32::from(chance < 3) * 2;
        let leading = match last {
            4 | 5 => 2,
            6 => 0,
            7 => 4,
            _ => 1,
        };
        a.lea(r15, ptr(r15 + 1 + 3 + filling + flags + leading))?;
        a.mov(rax, 6_364_136_223_846_793_005_u64)?;
        a.imul_2(r14, rax)?;
        a.add(r14, 12345)?;
        for number in 0..filling {
            match number % 5 {
                0 => a.mov(rbx, r14)?,
                1 => a.lea(rdx, ptr(rdx + rbx * 2 + 5))?,
                2 => a.xor(esi, edx)?,
                3 => a.mov(qword_ptr(rdi + 64), rsi)?,
                _ => a.cmp(rsi, qword_ptr(rdi + 64))?,
            }
        }
        if flags > 0 {
            a.mov(rcx, r14)?;
            a.add(rcx, rbx)?;
        }
        match last {
            0 => a.jmp(to)?,
            1 => a.jc(to)?,
            2 => a.js(to)?,
            3 => a.jo(to)?,
            4 => {
                a.lea(rcx, ptr(to))?;
                a.jmp(rcx)?;
            }
            5 => {
                a.lea(rbx, ptr(to))?;
                a.jmp(rbx)?;
            }
            6 => {
                // Turns of a loop, two instructions each.
                let mut again = a.create_label();
                a.lea(r15, ptr(r15 + 2))?;
                a.mov(ecx, 1 + random.below(6) as u32)?;
                a.set_label(&mut again)?;
                a.lea(r15, ptr(r15 + 2))?;
                a.loop_(again)?;
            }
            7 => {
                // A function between, which returns.
                let (mut function, mut back) = (a.create_label(), a.create_label());
                a.call(function)?;
                a.jmp(back)?;
                a.set_label(&mut function)?;
                a.ret()?;
                a.set_label(&mut back)?;
                a.nop()?;
            }
            _ => a.jp(to)?,
        }
    }
    // From the last block on to the first.
    a.lea(r15, ptr(r15 + 2))?;
    a.jmp(labels[0])?;
    a.set_label(&mut end)?;
    a.hlt()?;
    let made = a.assemble_options(CODE, BlockEncoderOptions::RETURN_NEW_INSTRUCTION_OFFSETS)?;
    let places = labels.iter().map(|label| made.label_ip(label)).collect::<Result<_, _>>()?;
    Ok((made.inner.code_buffer, places))
}

/// Runs programs; the first whose time is not its own count.
pub fn search(rounds: u64, seed: u64, mistake: Option<Mistake>) -> Result<u64, String> {
    let mut random = Random::new(seed);
    let mut total = 0;
    for round in 0..rounds {
        let (code, _) = program(&mut random).expect("a program that can be assembled");
        let (blocks, start) = (2 + random.below(400), random.number());
        for (options, far) in WAYS {
            let options = Options { mistake, ..options };
            let mut home = Home::new(&code, options, far);
            home.data().fill(0);
            let context = home.context();
            context.extended.0.fill(0);
            (context.extended.0[0], context.extended.0[1], context.extended.0[25], context.extended.0[24]) =
                (0x7f, 3, 0x1f, 0x80);
            context.general = [0; 16];
            (context.general[4], context.general[7]) = (DATA + 2048, DATA);
            (context.general[13], context.general[14]) = (blocks, start);
            (context.flags, context.fs) = (0x202, 0);
            let (mut pc, mut time) = (CODE, 0u64);
            let mut stops = 0;
            loop {
                let allowance = 64 + random.below(2000);
                home.context().allow(allowance, options.counters);
                let came = home.run(pc);
                let used = allowance as i64 - home.context().left() - i64::from(came.unmade);
                let place = if far { "far" } else { "near" };
                let context = format!("seed {seed}, round {round}, {options:?}, {place}, {came:x?}");
                if !(0..=allowance as i64 + Options::LONGEST as i64).contains(&used) {
                    return Err(format!("{context}: {used} steps of {allowance}"));
                }
                time += used as u64;
                stops += 1;
                if came.fault.is_some() || stops > 10_000 {
                    return Err(format!("{context}: does not end"));
                }
                pc = came.pc;
                if came.is_left {
                    break;
                }
            }
            let counted = home.context().general[15];
            if time != counted {
                return Err(format!(
                    "seed {seed}, round {round}, {options:?}: {time} steps, {counted} counted by itself"
                ));
            }
            total += time;
        }
    }
    Ok(total)
}

#[test]
fn programs_that_count_themselves() {
    let number = |name: &str| std::env::var(name).ok().and_then(|text| text.parse().ok());
    let (rounds, seed) = (number("FUZZ_ROUNDS").unwrap_or(60), number("FUZZ_SEED").unwrap_or(1));
    let total = search(rounds, seed, None).unwrap_or_else(|why| panic!("{why}"));
    assert!(total > rounds * 7 * 1000, "{total} steps");
}

/// A loop whose only way round is a computed jump, where the flags are alive: it holds a check too.
pub fn computed_loop(mistake: Option<Mistake>) -> Result<(), String> {
    let code = || -> Result<Vec<u8>, IcedError> {
        let mut a = CodeAssembler::new(64)?;
        let (mut again, mut end) = (a.create_label(), a.create_label());
        a.lea(rax, ptr(again))?;
        a.set_label(&mut again)?;
        // `dec` leaves the carry alone, so that it is alive all the way.
        a.dec(r13)?;
        a.js(end)?;
        a.jmp(rax)?;
        a.set_label(&mut end)?;
        a.hlt()?;
        a.assemble(CODE)
    };
    let code = code().expect("a program that can be assembled");
    let mut home = Home::new(&code, Options { mistake, ..Options::default() }, false);
    let cells = home.context();
    cells.general = [0; 16];
    cells.general[13] = 100_000;
    cells.flags = 0x203;
    cells.allow(1000, 4);
    let came = home.run(CODE);
    let used = 1000 - home.context().left() - i64::from(came.unmade);
    if used > 1000 + Options::LONGEST as i64 {
        return Err(format!("{used} steps of 1000: {came:x?}"));
    }
    Ok(())
}

#[test]
fn every_cycle_holds_a_check() {
    computed_loop(None).unwrap_or_else(|why| panic!("{why}"));
}
