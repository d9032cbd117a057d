//! A server that is slow when a node starts is waited for.

use std::time::Duration;

use store_sql::{Options, connect, migrate};
use testkit::Proxy;

#[tokio::test]
async fn a_server_that_is_slow_to_take_the_first_connection_is_waited_for() {
    let Some(server) = testkit::own_postgres(false).await else { return };
    server.create("flow").await.unwrap();
    let url = server.url("flow");
    migrate(&url).await.unwrap();
    let address = url.split(['@', '/']).nth(3).unwrap();
    let proxy = Proxy::to(address).await;
    let through = url.replace(address, &proxy.address().to_string());
    proxy.cut();
    let wait = Duration::from_millis(200);
    let options = Options { acquire_timeout: wait, ..Options::default() };
    let healing = async {
        tokio::time::sleep(wait * 5).await;
        proxy.heal();
    };
    let (store, ()) = tokio::join!(connect(&through, options), healing);
    store::Store::close(&store.unwrap()).await;
}
