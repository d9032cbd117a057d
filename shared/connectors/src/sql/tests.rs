use engine::Wanted;
use model::Map;
use serde_json::{Value, json};

use super::*;

fn statement(text: &str, values: Vec<Value>, wanted: Wanted) -> Statement {
    Statement {
        connection: "shop".into(),
        parts: text.split("{}").map(str::to_owned).collect(),
        values,
        keys: Vec::new(),
        wanted,
    }
}

fn shop(url: &str) -> Sql {
    Sql::new(&[("shop".to_owned(), url.to_owned())], false)
}

async fn run(sql: &Sql, text: &str, values: Vec<Value>, wanted: Wanted) -> Map {
    sql.run(&statement(text, values, wanted), "key-1").await.into_input()
}

/// What every database does; `table` makes a table of orders with an id, a name and a flag.
async fn exercise(sql: &Sql, table: &str) {
    let end = run(sql, table, vec![], Wanted::Affected).await;
    assert!(!end.contains_key("error"), "{end:?}");
    let insert = "insert into orders (id, name, paid) values ({}, {}, {})";
    let evil = "x'); drop table orders; --";
    for (id, name) in [(1, evil), (2, "é")] {
        let values = vec![json!(id), json!(name), json!(id == 1)];
        assert_eq!(run(sql, insert, values, Wanted::Affected).await["affected"], 1);
    }
    let all = "select id, name, paid from orders where id >= {} order by id";
    let rows = run(sql, all, vec![json!(1)], Wanted::Rows).await;
    assert_eq!(rows["rows"][0]["name"], evil, "{rows:?}");
    assert_eq!((&rows["rows"][1]["id"], &rows["rows"][1]["name"]), (&json!(2), &json!("é")));
    let paid = &rows["rows"][0]["paid"];
    assert!(*paid == json!(true) || *paid == json!(1), "{paid}");
    let one = "select name from orders where id = {}";
    assert_eq!(run(sql, one, vec![json!(2)], Wanted::Value).await["value"], "é");
    assert_eq!(run(sql, one, vec![json!(9)], Wanted::Value).await["value"], Value::Null);
    let set = "update orders set name = {}";
    assert_eq!(run(sql, set, vec![Value::Null], Wanted::Affected).await["affected"], 2);
    let none = run(sql, "select name from orders where id = 1", vec![], Wanted::Rows).await;
    assert_eq!(none["rows"], json!([{"name": null}]));
    // The connection is good after an error.
    let values = vec![json!(1), json!("again"), json!(false)];
    let twice = run(sql, insert, values, Wanted::Affected).await;
    assert_eq!(twice["error"], "failed", "{twice:?}");
    assert!(twice.contains_key("code"), "{twice:?}");
    let wrong = run(sql, "select nothing from nowhere", vec![], Wanted::Rows).await;
    assert_eq!(wrong["error"], "failed", "{wrong:?}");
    let mut keyed = statement(set, vec![Value::Null], Wanted::Affected);
    keyed.keys = vec![0];
    sql.run(&keyed, "key-1").await;
    let name = run(sql, one, vec![json!(1)], Wanted::Value).await;
    assert_eq!(name["value"], "key-1");
    // A result beyond the limits is refused, and the next statement works.
    let many = "with recursive n(i) as (select 1 union all select i + 1 from n where i < 101) \
                select a.i from n a, n b";
    let many = run(sql, many, vec![], Wanted::Rows).await;
    assert!(many["message"].as_str().unwrap().contains("10000 rows"), "{many:?}");
    let count = run(sql, "select count(*) from orders", vec![], Wanted::Value).await;
    assert_eq!(count["value"], 2);
}

const TABLE: &str =
    "create table orders (id int primary key, name varchar(100), paid boolean not null)";

#[tokio::test]
async fn sqlite() {
    let folder = tempfile::tempdir().unwrap();
    let url = format!("sqlite://{}/a.db?mode=rwc", folder.path().display());
    let sql = shop(&url);
    exercise(&sql, TABLE).await;
    let types = "select 1.5 as r, x'00ff' as b, {} as t, {} as j";
    let rows = run(&sql, types, vec![json!("t"), json!({"a": 1})], Wanted::Rows).await;
    let expected = json!([{"r": 1.5, "b": "AP8=", "t": "t", "j": "{\"a\":1}"}]);
    assert_eq!(rows["rows"], expected, "{rows:?}");
    let attach = run(&sql, "attach database '/tmp/x.db' as x", vec![], Wanted::Affected).await;
    assert_eq!(attach["error"], "refused");
}

#[tokio::test]
async fn postgres() {
    let Some(server) = testkit::postgres().await else { return };
    let sql = shop(&server.url());
    exercise(&sql, TABLE).await;
    let types = "select {}::int2 as i, {}::numeric as n, {}::timestamptz as t, {}::date as d, \
                 {}::uuid as u, {}::jsonb as j, {}::bytea as b, {}::text[] as l, {}::float4 as f, \
                 {}::time as c, {}::timestamp as w, 12345678901234567890.5::numeric as x";
    let uuid = "01890a5d-ac96-774b-bcce-b302099a8057";
    let values = vec![
        json!("7"),
        json!("12.50"),
        json!("2026-01-02T04:04:05+01:00"),
        json!("2026-01-02"),
        json!(uuid),
        json!({"a": [1]}),
        json!("AP8="),
        json!(["a", "b"]),
        json!(0.1),
        json!("10:20:30"),
        json!("2026-01-02T03:04:05"),
    ];
    let rows = run(&sql, types, values, Wanted::Rows).await;
    let expected = json!([{
        "i": 7, "n": 12.5, "t": "2026-01-02T03:04:05Z", "d": "2026-01-02", "u": uuid,
        "j": {"a": [1]}, "b": "AP8=", "l": ["a", "b"], "f": 0.1, "c": "10:20:30",
        "w": "2026-01-02T03:04:05", "x": "12345678901234567890.5"
    }]);
    assert_eq!(rows.get("rows"), Some(&expected), "{rows:?}");
    let any = "select count(*) from orders where id = any({})";
    assert_eq!(run(&sql, any, vec![json!([1, 2, 3])], Wanted::Value).await["value"], 2);
    let unfit = run(&sql, "select {}::int4", vec![json!("seven")], Wanted::Value).await;
    assert!(unfit["message"].as_str().unwrap().contains("placeholder 1 is INT4"), "{unfit:?}");
    let mood = "create type mood as enum ('good', 'bad')";
    run(&sql, mood, vec![], Wanted::Affected).await;
    assert_eq!(
        run(&sql, "select {}::mood", vec![json!("bad")], Wanted::Value).await["value"],
        "bad"
    );
    let twice =
        run(&sql, "insert into orders values (1, 'x', true)", vec![], Wanted::Affected).await;
    assert_eq!(twice["code"], "23505");
    let slow = statement("select pg_sleep(60)", vec![], Wanted::Value);
    let wait = std::time::Duration::from_millis(200);
    assert!(tokio::time::timeout(wait, sql.run(&slow, "k")).await.is_err());
    assert_eq!(run(&sql, "select 1", vec![], Wanted::Value).await["value"], 1);
}

#[tokio::test]
async fn mariadb() {
    let Some(url) = testkit::mariadb().await else { return };
    let sql = shop(&url);
    exercise(&sql, TABLE).await;
    let types = "select cast({} as decimal(10,2)) as n, cast({} as datetime) as t, \
                 cast('2026-01-02' as date) as d, cast('10:20:30' as time) as c, \
                 x'00ff' as b, cast(5 as unsigned) as u, 1.5e0 as f, {} as j";
    let values = vec![json!("12.50"), json!("2026-01-02 03:04:05"), json!({"a": 1})];
    let rows = run(&sql, types, values, Wanted::Rows).await;
    let row = &rows["rows"][0];
    assert_eq!(
        (&row["n"], &row["f"], &row["u"]),
        (&json!(12.5), &json!(1.5), &json!(5)),
        "{rows:?}"
    );
    assert_eq!((&row["t"], &row["d"]), (&json!("2026-01-02T03:04:05"), &json!("2026-01-02")));
    assert_eq!((&row["c"], &row["b"]), (&json!("10:20:30"), &json!("AP8=")));
    let twice =
        run(&sql, "insert into orders values (1, 'x', true)", vec![], Wanted::Affected).await;
    assert_eq!(twice["code"], "23000", "{twice:?}");
}

#[tokio::test]
async fn connections_are_named_in_the_configuration() {
    let sql = shop("sqlite::memory:");
    let check = async |sql: &Sql, name: &str, expected: &str| {
        let statement =
            Statement { connection: name.into(), ..statement("select 1", vec![], Wanted::Value) };
        let end = sql.run(&statement, "k").await.into_input();
        let message = end["message"].as_str().unwrap();
        assert!(end["error"] == "refused" && message.contains(expected), "{end:?}");
    };
    check(&sql, "shops", "no SQL connection \"shops\"").await;
    check(&sql, "sqlite:///tmp/x.db", "not named by URL").await;
    let open = Sql::new(&[], true);
    check(&open, "oracle://x", "no database that can be called").await;
    let by_url = Statement {
        connection: "sqlite://:memory:".into(),
        ..statement("select 1", vec![], Wanted::Value)
    };
    assert_eq!(open.run(&by_url, "k").await.into_input()["value"], 1);
}

#[tokio::test]
async fn a_server_that_refuses_connections_is_named_at_once() {
    for scheme in ["postgres", "mysql"] {
        let gone = shop(&format!("{scheme}://ada:secret@127.0.0.1:1/none"));
        let end = run(&gone, "select 1", vec![], Wanted::Value);
        let end = tokio::time::timeout(std::time::Duration::from_secs(5), end).await.unwrap();
        assert_eq!(end["error"], "connect", "{end:?}");
        let message = end["message"].as_str().unwrap();
        let expected = "the database at 127.0.0.1, port 1, is not reached: Connection refused";
        assert!(message.starts_with(expected), "{message}");
        assert!(!message.contains("secret"), "{message}");
    }
}

#[test]
fn a_url_with_which_no_database_is_reached_is_refused_without_it() {
    let one = |url: &str| check(&[("shop".to_owned(), url.to_owned())]);
    for good in [
        "postgres://u:hunter2@h/d",
        "mysql://u:hunter2@h:3306/d",
        "mariadb://h/d",
        "sqlite::memory:",
        "sqlite:///var/lib/notes.db",
    ] {
        assert_eq!(one(good), Ok(()));
    }
    for wrong in ["oracle://u:hunter2@h", "postgres://u:hunter2@h:99999/d", "mysql://h:x/d"] {
        let Unfit { setting, reason } = one(wrong).unwrap_err();
        assert_eq!(setting, "sql-connections");
        assert!(reason.starts_with("the URL of \"shop\": "), "{reason}");
        assert!(!reason.contains("hunter2"), "{reason}");
    }
}
