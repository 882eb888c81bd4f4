struct Guest {
    name: String,
}

fn seat(guest: Guest) -> usize {
    guest.name.len()
}

fn main() {
    let guest = Guest { name: String::from("Ada") };
    let unused = 3;
    println!("{}", seat(guest));
    println!("{}", guest.name);
}
