use std::fmt::Write;
use std::net::{Ipv4Addr, Ipv6Addr};

use ipnet::{Ipv4Net, Ipv6Net};
use proptest::prelude::*;

use super::*;

fn country(table: &CountryTable, address: &str) -> Option<String> {
    let Country(code) = table.country(address.parse().unwrap())?;
    Some(String::from_utf8_lossy(&code).into_owned())
}

#[test]
fn the_longest_prefix_counts_and_what_surrounds_it_goes_on_behind_it() {
    let text = "network,country\n# ours\n10.0.0.0/8,DE\n10.1.0.0/16,\"at\"\n10.1.2.0/24,CH,more\n2001:db8::/32,FR\n";
    let table = CountryTable::parse(text).unwrap();
    for (address, code) in [
        ("9.255.255.255", None),
        ("10.0.0.0", Some("DE")),
        ("10.1.0.1", Some("AT")),
        ("10.1.2.255", Some("CH")),
        ("10.1.3.0", Some("AT")),
        ("10.2.0.0", Some("DE")),
        ("11.0.0.0", None),
        ("::ffff:10.1.2.3", Some("CH")),
        ("2001:db8::1", Some("FR")),
        ("2001:db9::1", None),
    ] {
        assert_eq!(country(&table, address).as_deref(), code, "{address}");
    }
}

#[test]
fn whole_address_spaces_have_no_end_to_run_over() {
    let table = CountryTable::parse("0.0.0.0/0,DE\n255.255.255.255/32,FR\n::/0,AT\n").unwrap();
    assert_eq!(country(&table, "255.255.255.255").as_deref(), Some("FR"));
    assert_eq!(country(&table, "255.255.255.254").as_deref(), Some("DE"));
    assert_eq!(country(&table, "ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff").as_deref(), Some("AT"));
}

#[test]
fn a_line_that_is_wrong_is_named() {
    for (text, line) in
        [("10.0.0.0/8,DE\nnonsense,DE", 2), ("10.0.0.0/33,DE", 1), ("\n\n10.0.0.0/8,DEU", 3), ("10.0.0.0/8", 1)]
    {
        assert_eq!(CountryTable::parse(text).unwrap_err().line, line, "{text}");
    }
}

#[test]
fn a_million_networks_are_read_and_one_more_is_refused() {
    let mut text = String::new();
    for index in 0..COUNTRY_LINES_MAX {
        // Neighbours differ, so that no two ranges can be joined.
        let code = if index % 2 == 0 { "DE" } else { "FR" };
        writeln!(text, "{}/28,{code}", Ipv4Addr::from_bits(u32::try_from(index << 5).unwrap())).unwrap();
    }
    let table = CountryTable::parse(&text).unwrap();
    assert!(table.bytes() <= 64 * 1024 * 1024, "{}", table.bytes());
    text.push_str("192.0.2.0/24,DE\n");
    assert_eq!(CountryTable::parse(&text).unwrap_err().line, COUNTRY_LINES_MAX + 1);
}

const CODES: [&str; 4] = ["DE", "FR", "AT", "CH"];

fn networks() -> impl Strategy<Value = Vec<(IpNet, usize)>> {
    // Few high bits, so that networks lie within one another.
    let v4 = (0u32..64, 0u8..=32).prop_map(|(bits, length)| {
        IpNet::from(Ipv4Net::new(Ipv4Addr::from_bits(bits << 26 | bits), length).unwrap()).trunc()
    });
    let v6 = (0u128..64, 0u8..=128).prop_map(|(bits, length)| {
        IpNet::from(Ipv6Net::new(Ipv6Addr::from_bits(bits << 122 | bits), length).unwrap()).trunc()
    });
    proptest::collection::vec((prop_oneof![v4, v6], 0..CODES.len()), 0..24)
}

proptest! {
    #[test]
    fn every_address_is_where_a_look_at_each_network_finds_it(networks in networks(), others in any::<[u32; 4]>()) {
        let mut text = String::new();
        networks.iter().for_each(|(net, code)| writeln!(text, "{net},{}", CODES[*code]).unwrap());
        let table = CountryTable::parse(&text).unwrap();
        let naive = |address: IpAddr| {
            let within = networks.iter().filter(|(net, _)| net.contains(&address));
            // Of networks that are the same, the later line counts: max_by_key gives the last of the largest.
            within.max_by_key(|(net, _)| net.prefix_len()).map(|(_, code)| CODES[*code].to_owned())
        };
        let borders = networks.iter().flat_map(|(net, _)| [net.network(), net.broadcast(), beyond(net)]);
        let others = others.into_iter().map(|bits| IpAddr::from(Ipv4Addr::from_bits(bits)));
        for address in borders.chain(others) {
            // An IPv4 address in the clothes of an IPv6 one is looked up as itself.
            if address.to_canonical() == address {
                prop_assert_eq!(country(&table, &address.to_string()), naive(address), "{} in\n{}", address, text);
            }
        }
    }

    #[test]
    fn any_text_is_read_or_refused(text in "[0-9a-fA-F:./,\"#\n ]{0,200}") {
        let _ = CountryTable::parse(&text);
    }
}

fn beyond(net: &IpNet) -> IpAddr {
    match net.broadcast() {
        IpAddr::V4(last) => Ipv4Addr::from_bits(last.to_bits().wrapping_add(1)).into(),
        IpAddr::V6(last) => Ipv6Addr::from_bits(last.to_bits().wrapping_add(1)).into(),
    }
}
