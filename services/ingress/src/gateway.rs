//! Ingress without a port, for a process that hands it requests directly.

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

/// One ingress that answers requests but does not listen.
pub struct Gateway {
    app: Arc<App>,
    router: Router,
}

impl Gateway {
    /// Opens the inbox for outcomes; from then on it can answer.
    ///
    /// # Errors
    /// [`Error`] has the reason why it does not start.
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

    /// Ends the background tasks, and waits for their end.
    pub async fn close(&self) {
        self.app.close().await;
    }

    /// Ends the background tasks at once, as the end of the process would.
    pub fn abandon(&self) {
        self.app.abandon();
    }
}
