//! A filter by searchable values reads the index, on both databases.

use model::Searchable;
use sea_orm::{
    ConnectionTrait as _, EntityTrait as _, QueryFilter as _, QueryTrait as _, Statement,
};
use serde_json::json;
use store::conformance::first;
use store::{
    Burst, Commit, InstanceFilter, Instances as _, Store as _, ValueChanges, ValueFilter,
    ValueOperator,
};
use testkit::sqlite_url;

use crate::access::Access;
use crate::entity::instance;
use crate::{Options, SqlStore, connect, instances};

/// Enough rows for PostgreSQL to prefer an index.
const INSTANCES: usize = 2_000;
const INDEX: &str = "searchable_values_sort_key";

fn filter(
    operator: ValueOperator,
    value: &serde_json::Value,
    definition: Option<&str>,
) -> InstanceFilter {
    let kind = if value.is_string() { Searchable::Text } else { Searchable::Number };
    let keys = vec![kind.key(value).unwrap()];
    InstanceFilter {
        definition_ids: definition.into_iter().map(Into::into).collect(),
        values: vec![ValueFilter { name: "Value".to_owned(), operator, keys }],
        ..InstanceFilter::default()
    }
}

/// The plan of the query for the instances of a filter.
async fn plan(database: &Access, explain: &str, filter: &InstanceFilter) -> String {
    let backend = database.get_database_backend();
    let query = instance::Entity::find().filter(instances::condition(filter)).build(backend);
    let text = format!("{explain} {}", query.sql);
    let values = query.values.unwrap();
    let rows = database.query_all_raw(Statement::from_sql_and_values(backend, text, values)).await;
    let column = if explain.ends_with("PLAN") { 3 } else { 0 };
    let lines =
        rows.unwrap().into_iter().map(|row| row.try_get_by_index::<String>(column).unwrap());
    lines.collect::<Vec<_>>().join("\n")
}

async fn the_index_is_used(store: SqlStore, explain: &str) {
    for number in 0..INSTANCES {
        let kind = if number % 2 == 0 { Searchable::Number } else { Searchable::Text };
        let value = if number % 2 == 0 { json!(number) } else { json!(format!("text {number}")) };
        let set = [("Value".to_owned(), kind.key(&value).unwrap())].into();
        let values = ValueChanges { set, ..ValueChanges::default() };
        let mut burst = Burst { values, ..first(&format!("i{number}")) };
        burst.instance.state = vec![7; 500];
        let commit = store.commit(burst).await.unwrap();
        assert!(matches!(commit, Commit::Done { .. }), "{commit:?}");
    }
    let database = &store.database.writer;
    database.execute_unprepared("ANALYZE").await.unwrap();
    for (operator, value, definition) in [
        (ValueOperator::Is, json!(100), None),
        (ValueOperator::GreaterThanOrEqual, json!(1_980), None),
        (ValueOperator::LessThan, json!(20), Some("order")),
        (ValueOperator::BeginsWith, json!("text 19"), None),
    ] {
        let filter = filter(operator, &value, definition);
        let plan = plan(database, explain, &filter).await;
        assert!(plan.contains(INDEX), "{operator:?} {value}: {plan}");
        for scan in ["Seq Scan on searchable_values", "SCAN searchable_values"] {
            assert!(!plan.contains(scan), "{operator:?} {value}: {plan}");
        }
    }
    store.close().await;
}

fn options() -> Options {
    Options { migrate: true, ..Options::default() }
}

#[tokio::test]
async fn on_sqlite_values_are_found_by_the_index() {
    let folder = tempfile::tempdir().unwrap();
    let store = connect(&sqlite_url(folder.path()), options()).await.unwrap();
    the_index_is_used(store, "EXPLAIN QUERY PLAN").await;
}

#[tokio::test]
async fn on_postgres_values_are_found_by_the_index() {
    let Some(server) = testkit::postgres().await else { return };
    let store = connect(&server.url(), options()).await.unwrap();
    the_index_is_used(store, "EXPLAIN").await;
}

/// A program of before the table was there removes instances with statements of its own.
#[tokio::test]
async fn values_go_when_an_older_program_removes_their_instance() {
    let folder = tempfile::tempdir().unwrap();
    let sqlite = connect(&sqlite_url(folder.path()), options()).await.unwrap();
    let mut stores = vec![sqlite];
    if let Some(server) = testkit::postgres().await {
        stores.push(connect(&server.url(), options()).await.unwrap());
    }
    for store in stores {
        let set = [("Value".to_owned(), Searchable::Boolean.key(&json!(true)).unwrap())].into();
        let values = ValueChanges { set, ..ValueChanges::default() };
        store.commit(Burst { values, ..first("a") }).await.unwrap();
        assert_eq!(store.values(&"a".into()).await.unwrap().len(), 1);
        let delete = "DELETE FROM instances WHERE id = 'a'";
        store.database.writer.execute_unprepared(delete).await.unwrap();
        assert_eq!(store.values(&"a".into()).await.unwrap().len(), 0);
        store.close().await;
    }
}
