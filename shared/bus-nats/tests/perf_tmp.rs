use std::time::{Duration, Instant};
use bus::*;
use bus_nats::*;
use testkit::*;
#[tokio::test(flavor="multi_thread")]
async fn perf() {
    let server = nats().await;
    let bus = bus_nats::connect(Options::new(server.url())).await.unwrap();
    bus.provision(1).await.unwrap();
    let leases = Leases::start(bus.kv(Bucket::Leases), "one", Terms::default(), chance());
    for par in [1usize, 32] {
        let t = Instant::now(); let n = 4000/ (if par==1 {4} else {1});
        let hs: Vec<_> = (0..par).map(|w| { let leases=leases.clone(); tokio::spawn(async move { for i in 0..n/par { leases.acquire(&format!("k{w}-{i}")).await.unwrap().release().await; } }) }).collect();
        for h in hs { h.await.unwrap(); }
        println!("lease acquire+release x{par}: {:.0}/s", n as f64 / t.elapsed().as_secs_f64());
    }
    for par in [1usize, 64] {
        let t = Instant::now(); let n = if par==1 {1000} else {6400};
        let hs: Vec<_> = (0..par).map(|w| { let bus=bus.clone(); tokio::spawn(async move { for i in 0..n/par { 
            let headers = [("Nats-Msg-Id".to_owned(), format!("{par}-{w}-{i}"))].into();
            bus.publish(protocol::Message{subject:"staunch.cmd.start.a".into(), headers, payload: vec![0;200]}).await.unwrap(); } }) }).collect();
        for h in hs { h.await.unwrap(); }
        println!("publish x{par}: {:.0}/s", n as f64 / t.elapsed().as_secs_f64());
    }
    let t = Instant::now(); let mut n=0; let mut pulls=0;
    while n < 7400 { let ds = bus.pull(64, Duration::from_secs(1)).await.unwrap(); pulls+=1; n+=ds.len(); for d in ds { d.settle.ack().await.unwrap(); } }
    println!("pull+ack: {:.0}/s in {pulls} pulls", n as f64 / t.elapsed().as_secs_f64());
    let mut lat=vec![];
    for i in 0..200 { let b=bus.clone(); let p=tokio::spawn(async move { b.pull(64, Duration::from_secs(2)).await.unwrap() });
        tokio::time::sleep(Duration::from_millis(2)).await; let t=Instant::now();
        bus.publish(protocol::Message{subject:"staunch.cmd.start.b".into(), headers: [("Nats-Msg-Id".to_owned(), format!("l{i}"))].into(), payload: vec![]}).await.unwrap();
        let ds=p.await.unwrap(); lat.push(t.elapsed()); for d in ds { d.settle.ack().await.unwrap(); } }
    lat.sort(); println!("publish to delivery p50 {:?} p99 {:?}", lat[100], lat[197]);
}
