use m4sim::{board, board::Memory, bus::Bus, cpu::Cpu, cpu::Stop, elf, profile::Profile, timing::Params};
use std::process::exit;

const USAGE: &str = "\
m4sim - Cortex-M4F simulator with a cycle model

usage: m4sim run FIRMWARE.elf [options]      run one firmware, console on stdout
       m4sim bench A.elf [B.elf ..] [options] run several, one table of results
       m4sim state < vectors                 (for tests/difftest.py)

options:
  --board l4r5|f407|ideal  memory system (default l4r5):
                        l4r5  flash 2M, SRAM 640K in 3 blocks, SRAM2/3 not parked
                        f407  flash 1M, SRAM 128K, one block
                        ideal flash 2M, SRAM 640K, one block, no bus wait states
  --flash BASE:SIZE     override flash (default base 0 if the ELF is linked there)
  --ram BASE:SIZE       override SRAM
  --ram-split A,B,..    SRAM block boundaries ('none' for one block)
  --vtor ADDR           vector table (default: its symbol, else start of flash)
  --seed N              seed of the simulated RNG (default 1)
  --rng-latency N       cycles between RNG words (default 54)
  --max-insns N         stop after N instructions (default 20e9)
  --timing K=V          override a timing parameter (repeatable)
  --profile [N]         per-function cycles and stack (top N, default 40)
  --trace FILE          instruction trace with cycle numbers
  --cmdline STR         semihosting command line
  --stats               totals on stderr
  --csv                 (bench) CSV instead of a table
  --baseline FILE.csv   (bench) add rows `file,name,cycles,stack` from FILE
exit status: the firmware's semihosting exit code; 101 on a fault.";

fn num(s: &str) -> Option<u64> {
    let (t, mul) = match s.chars().last()? {
        'K' | 'k' => (&s[..s.len() - 1], 1024),
        'M' | 'm' => (&s[..s.len() - 1], 1024 * 1024),
        _ => (s, 1),
    };
    let v = if let Some(h) = t.strip_prefix("0x") {
        u64::from_str_radix(h, 16).ok()?
    } else {
        t.parse().ok()?
    };
    Some(v * mul)
}

fn die(m: &str) -> ! {
    eprintln!("m4sim: {m}");
    exit(2)
}

fn main() {
    let a: Vec<String> = std::env::args().skip(1).collect();
    match a.first().map(|s| s.as_str()) {
        Some("run") if a.len() >= 2 => exit(run(&Opts::parse(&a[1..]))),
        Some("bench") if a.len() >= 2 => exit(bench(&Opts::parse(&a[1..]))),
        Some("state") => state(),
        Some("-h") | Some("--help") | Some("help") => println!("{USAGE}"),
        _ => {
            eprintln!("{USAGE}");
            exit(2)
        }
    }
}

struct Opts {
    files: Vec<String>,
    memory: Memory,
    vtor: Option<u32>,
    seed: u64,
    rng_lat: Option<u64>,
    max: u64,
    params: Params,
    profile: Option<usize>,
    trace: Option<String>,
    stats: bool,
    cmdline: String,
    csv: bool,
    baseline: Option<String>,
}

impl Opts {
    fn parse(a: &[String]) -> Opts {
        let mut o = Opts {
            files: vec![],
            memory: Memory::of_board("l4r5").expect("the default board"),
            vtor: None,
            seed: 1,
            rng_lat: None,
            max: 20_000_000_000,
            params: Params::default(),
            profile: None,
            trace: None,
            stats: false,
            cmdline: String::new(),
            csv: false,
            baseline: None,
        };
        let mut k = 0;
        while k < a.len() {
            let arg = a[k].clone();
            k += 1;
            let mut val = || {
                let v = a
                    .get(k)
                    .cloned()
                    .unwrap_or_else(|| die(&format!("{arg} needs a value")));
                k += 1;
                v
            };
            let n = |v: String| num(&v).unwrap_or_else(|| die(&format!("bad number '{v}'")));
            let pair = |v: String| -> (u32, u32) {
                let (b, s) = v.split_once(':').unwrap_or_else(|| die("want BASE:SIZE"));
                (n(b.into()) as u32, n(s.into()) as u32)
            };
            match arg.as_str() {
                "--board" => {
                    let name = val();
                    o.memory = Memory::of_board(&name).unwrap_or_else(|| die(&format!("unknown board '{name}'")));
                }
                "--flash" => o.memory.flash = Some(pair(val())),
                "--ram" => o.memory.ram = pair(val()),
                "--ram-split" => {
                    let v = val();
                    o.memory.split = if v == "none" {
                        vec![]
                    } else {
                        v.split(',').map(|s| n(s.into()) as u32).collect()
                    }
                }
                "--vtor" => o.vtor = Some(n(val()) as u32),
                "--seed" => o.seed = n(val()),
                "--rng-latency" => o.rng_lat = Some(n(val())),
                "--max-insns" => o.max = val().parse::<f64>().unwrap_or_else(|_| die("bad number")) as u64,
                "--timing" => {
                    let v = val();
                    let (key, x) = v.split_once('=').unwrap_or_else(|| die("want K=V"));
                    if let Err(e) = o.params.set(key, n(x.into()) as u32) {
                        die(&e)
                    }
                }
                "--profile" => {
                    o.profile = Some(40);
                    if let Some(v) = a.get(k).and_then(|v| v.parse().ok()) {
                        o.profile = Some(v);
                        k += 1;
                    }
                }
                "--trace" => o.trace = Some(val()),
                "--cmdline" => o.cmdline = val(),
                "--stats" => o.stats = true,
                "--csv" => o.csv = true,
                "--baseline" => o.baseline = Some(val()),
                s if s.starts_with("--") => die(&format!("unknown option {s}\n{USAGE}")),
                s => o.files.push(s.to_string()),
            }
        }
        if o.files.is_empty() {
            die("no firmware given");
        }
        o
    }
}

/// Load, run and report one firmware. Returns (exit code, console output).
fn exec(o: &Opts, file: &str, echo: bool) -> (i32, Vec<u8>) {
    let data = std::fs::read(file).unwrap_or_else(|e| die(&format!("{file}: {e}")));
    let e = elf::parse(&data).unwrap_or_else(|e| die(&format!("{file}: {e}")));
    let mut cpu = board::load(&e, &o.memory, o.params, o.seed).unwrap_or_else(|m| die(&format!("{file}: {m}")));
    if let Some(l) = o.rng_lat {
        cpu.bus.rng_latency = l;
    }
    cpu.hooks.echo = echo;
    cpu.hooks.semihost.cmdline = o.cmdline.clone();
    if o.profile.is_some() {
        cpu.hooks.profile = Some(Box::new(Profile::new(&e.symbols)));
    }
    if let Some(t) = &o.trace {
        let f = std::fs::File::create(t).unwrap_or_else(|e| die(&format!("{t}: {e}")));
        cpu.hooks.trace = Some(Box::new(std::io::BufWriter::new(f)));
    }
    let vt = o.vtor.unwrap_or_else(|| board::vector_table(&e, cpu.bus.flash.base));
    let t0 = std::time::Instant::now();
    let stop = match cpu.reset(vt) {
        Ok(()) => cpu.run(o.max),
        Err(s) => s,
    };
    let dt = t0.elapsed();
    if let Some(w) = cpu.hooks.trace.as_mut() {
        let _ = w.flush();
    }
    if let (Some(n), Some(p)) = (o.profile, cpu.hooks.profile.as_ref()) {
        eprint!("{}", p.report(n));
    }
    if o.stats {
        let b = cpu.t.brk;
        eprintln!(
            "cycles {} insns {} (CPI {:.3}) issue {} fetch-wait {} stalls {} unaligned {} | {:.2}s {:.1} MIPS",
            cpu.t.cycles,
            cpu.insns,
            cpu.t.cycles as f64 / cpu.insns.max(1) as f64,
            b[0],
            b[1],
            b[2],
            cpu.unaligned_count,
            dt.as_secs_f64(),
            cpu.insns as f64 / dt.as_secs_f64() / 1e6
        );
    }
    let code = match stop {
        Stop::Exit(c) => c,
        s => {
            let pc = cpu.r[15];
            let sym = e
                .symbols
                .iter()
                .filter(|y| y.func && y.addr <= pc)
                .max_by_key(|y| y.addr)
                .map(|y| format!(" ({}+0x{:x})", y.name, pc - y.addr))
                .unwrap_or_default();
            eprintln!("m4sim: {file}: stopped: {s:?} near pc=0x{pc:08x}{sym}");
            for (k, r) in cpu.r.iter().enumerate() {
                eprint!("r{k}={r:08x}{}", if k % 8 == 7 { "\n" } else { " " });
            }
            101
        }
    };
    (code, std::mem::take(&mut cpu.out))
}

fn run(o: &Opts) -> i32 {
    if o.files.len() != 1 {
        die("run takes one firmware (use bench for several)");
    }
    exec(o, &o.files[0], true).0
}

/// `bench NAME CYCLES STACK` lines of each firmware, as one table (median of
/// repeated lines; stack is the maximum).
fn bench(o: &Opts) -> i32 {
    let mut rows: Vec<(String, String, u64, u64, u64, u64, usize)> = Vec::new();
    if let Some(f) = &o.baseline {
        let t = std::fs::read_to_string(f).unwrap_or_else(|e| die(&format!("{f}: {e}")));
        for l in t.lines() {
            let c: Vec<&str> = l.split(',').collect();
            if c.len() >= 4 {
                if let (Ok(cy), Ok(st)) = (c[2].trim().parse(), c[3].trim().parse()) {
                    rows.push((c[0].into(), c[1].into(), cy, cy, cy, st, 0));
                }
            }
        }
    }
    let mut rc = 0;
    for f in &o.files {
        let (code, out) = exec(o, f, false);
        let text = String::from_utf8_lossy(&out);
        if code != 0 {
            rc = code;
            eprintln!("m4sim: {f}: exit code {code}\n{text}");
        }
        let stem = std::path::Path::new(f)
            .file_stem()
            .map(|s| s.to_string_lossy().into_owned());
        let stem = stem.unwrap_or_else(|| f.clone());
        let mut seen: Vec<(String, Vec<u64>, u64)> = Vec::new();
        for l in text.lines() {
            let w: Vec<&str> = l.split_whitespace().collect();
            if w.len() == 4 && w[0] == "bench" {
                if let (Ok(c), Ok(s)) = (w[2].parse::<u64>(), w[3].parse::<u64>()) {
                    match seen.iter_mut().find(|x| x.0 == w[1]) {
                        Some(x) => {
                            x.1.push(c);
                            x.2 = x.2.max(s);
                        }
                        None => seen.push((w[1].into(), vec![c], s)),
                    }
                }
            }
        }
        if seen.is_empty() {
            eprintln!("m4sim: {f}: no `bench NAME CYCLES STACK` line");
            rc = rc.max(3);
        }
        for (name, mut c, st) in seen {
            c.sort_unstable();
            let n = c.len();
            rows.push((stem.clone(), name, c[n / 2], c[0], c[n - 1], st, n));
        }
    }
    if o.csv {
        println!("file,name,cycles,stack,min,max,runs");
        for (f, n, c, lo, hi, s, k) in rows {
            println!("{f},{n},{c},{s},{lo},{hi},{k}");
        }
    } else {
        println!("| firmware | operation | cycles (median) | min | max | stack | runs |");
        println!("|---|---|---:|---:|---:|---:|---:|");
        for (f, n, c, lo, hi, s, k) in rows {
            let k = if k == 0 { "baseline".into() } else { k.to_string() };
            println!("| {f} | {n} | {c} | {lo} | {hi} | {s} | {k} |");
        }
    }
    rc
}

/// Differential-test port: each input line is
/// `hw1[hw2] r0..r14 apsr s0..s3` in hex; prints the state after the
/// instruction (executed at 0x08000100, scratch RAM at 0x20000000).
fn state() {
    use std::io::{BufRead, Write};
    let stdin = std::io::stdin();
    let mut out = std::io::BufWriter::new(std::io::stdout());
    for line in stdin.lock().lines() {
        let Ok(line) = line else { break };
        let f: Vec<&str> = line.split_whitespace().collect();
        if f.len() < 17 {
            continue;
        }
        let code = f[0];
        let mut bus = Bus::new(0x0800_0000, 0x1000, 0x2000_0000, 0x1000, 1);
        let mut bytes = Vec::new();
        for h in code.as_bytes().chunks(4) {
            let h = u16::from_str_radix(std::str::from_utf8(h).unwrap(), 16).unwrap();
            bytes.extend_from_slice(&h.to_le_bytes());
        }
        bus.load(0x0800_0100, &bytes).unwrap();
        for (k, b) in bus.ram.data.iter_mut().enumerate() {
            *b = (k as u32).wrapping_mul(0x9d).wrapping_add(k as u32 >> 3) as u8;
        }
        bus.cpacr = 0xf << 20;
        let mut cpu = Cpu::new(bus, Params::default());
        for k in 0..15 {
            cpu.r[k] = u32::from_str_radix(f[1 + k], 16).unwrap();
        }
        cpu.set_apsr(u32::from_str_radix(f[16], 16).unwrap());
        for (k, v) in f[17..].iter().enumerate().take(32) {
            cpu.s[k] = u32::from_str_radix(v, 16).unwrap();
        }
        cpu.r[15] = 0x0800_0100;
        match cpu.step() {
            Ok(()) => {
                for r in cpu.r {
                    let _ = write!(out, "{r:08x} ");
                }
                let _ = write!(out, "{:08x}", cpu.apsr());
                for k in 0..4 {
                    let _ = write!(out, " {:08x}", cpu.s[k]);
                }
                // checksum of RAM
                let mut h = 0u32;
                for b in &cpu.bus.ram.data {
                    h = h.wrapping_mul(31).wrapping_add(*b as u32);
                }
                let _ = writeln!(out, " {h:08x}");
            }
            Err(s) => {
                let _ = writeln!(out, "stop {s:?}");
            }
        }
    }
}
