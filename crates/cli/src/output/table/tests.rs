use super::*;

const WIDE: usize = usize::MAX;

fn room(columns: usize) -> TableRoom {
    TableRoom::new(columns)
}

#[test]
fn columns_are_aligned_and_lines_have_no_trailing_spaces() {
    let mut table =
        Table::new(&[Column::left("NAME"), Column::right("HELD"), Column::left("STATE")]);
    table.row(vec!["a".into(), "1/10".into(), "open".into()]);
    table.row(vec!["longer".into(), "0/1".into(), String::new()]);
    assert_eq!(
        table.render(room(WIDE)),
        "NAME    HELD  STATE\na       1/10  open\nlonger   0/1  -\n"
    );
}

#[test]
fn columns_are_aligned_after_wide_characters() {
    let mut table = Table::new(&[Column::left("NAME"), Column::right("HELD")]);
    table.row(vec!["構築中".into(), "1/1".into()]);
    table.row(vec!["b".into(), "1/1".into()]);
    assert_eq!(table.render(room(WIDE)), "NAME    HELD\n構築中   1/1\nb        1/1\n");
}

fn holders() -> Table {
    let mut table = Table::new(&[
        Column::left("HOLDER"),
        Column::right("FENCE").rank(3),
        Column::left("HOST").cut(6),
        Column::right("PID").rank(1),
        Column::left("LABELS").rank(2).cut(8),
    ]);
    let cells = ["7c02e1aa", "1733000000000017", "build-machine", "4711", "job=42 team=blue"];
    table.row(cells.map(str::to_owned).to_vec());
    table
}

#[test]
fn a_table_is_cut_and_then_loses_columns_until_it_fits() {
    let heads = |columns: usize| {
        let text = holders().render(room(columns));
        let widest = text.lines().map(width).max().unwrap();
        assert!(widest <= columns, "{columns}: {text}");
        text.lines().next().unwrap().split_whitespace().collect::<Vec<_>>().join(" ")
    };
    assert_eq!(heads(80), "HOLDER FENCE HOST PID LABELS");
    assert_eq!(heads(50), "HOLDER FENCE HOST PID LABELS");
    assert_eq!(heads(49), "HOLDER HOST PID LABELS");
    assert_eq!(heads(30), "HOLDER HOST PID");
    assert_eq!(heads(20), "HOLDER HOST");
    assert_eq!(heads(16), "HOLDER HOST");
}

#[test]
fn what_is_left_goes_to_what_was_cut_in_order() {
    let text = holders().render(room(56));
    let row = text.lines().nth(1).unwrap();
    assert!(row.contains("build-machi…") || row.contains("build-mach…"), "{text}");
    assert!(row.ends_with("job=42 …"), "{text}");
    assert_eq!(width(row), 56, "all room is used: {text}");
}

#[test]
fn names_keep_their_end_and_no_column_is_lost_for_one_long_name() {
    let mut table = Table::new(&[Column::left("NAME").cut_start(8), Column::left("STATE").rank(1)]);
    table.row(vec!["team/service/integration-db".into(), "open".into()]);
    let shown = table.render(room(20));
    assert_eq!(shown.lines().nth(1), Some("…tegration-db  open"), "{shown}");
}
