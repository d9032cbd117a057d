//! Ingress without a port, for a process that hands requests to it by itself.

use std::convert::Infallible;
use std::sync::Arc;

use axum::Router;
use axum::body::Body;
use axum::extract::Request;
use axum::response::Response;
use tower::ServiceExt as _;

use crate::app::App;
use crate::config::Config;
use crate::context::Context;
use crate::router;
use crate::serve::Error;

/// One ingress that answers requests, and listens nowhere.
pub struct Gateway {
    app: Arc<App>,
    router: Router,
}

impl Gateway {
    /// Opens the inbox for outcomes, and answers from now on.
    ///
    /// # Errors
    /// [`Error`] says why it does not start.
    pub async fn open(cx: Context, config: Config) -> Result<Self, Error> {
        config.check()?;
        let app = App::start(cx, config).await?;
        let router = router::router(Arc::clone(&app));
        Ok(Self { app, router })
    }

    /// Answers a request.
    pub async fn answer(&self, request: Request<Body>) -> Response {
        let answered: Result<Response, Infallible> = self.router.clone().oneshot(request).await;
        answered.unwrap_or_else(|never| match never {})
    }

    /// From now on every new request is refused, and callers stop waiting for outcomes.
    pub fn drain(&self) {
        self.app.drain();
    }

    /// Ends what runs beside the requests, and waits for it.
    pub async fn close(&self) {
        self.app.close().await;
    }

    /// Ends what runs beside the requests, as the end of the process would.
    pub fn abandon(&self) {
        self.app.abandon();
    }
}
