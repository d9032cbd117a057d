//! The body of a request, as it arrives: small ones into memory, large ones to payloads.

use axum::body::{Body, Bytes};
use axum::http::HeaderMap;
use axum::http::header::CONTENT_TYPE;
use futures::{StreamExt as _, stream};
use http_body_util::Limited;
use model::{file, media};
use payloads::Payloads;
use serde_json::Value;

use super::form::{self, Form, FormLimits};
use super::request::named;
use crate::Problem;
use crate::body::{content_type, unread};

/// The body of a request.
#[derive(Debug)]
pub(super) enum Arrived {
    /// All of it.
    Bytes(Bytes),
    /// The form that it is.
    Form(Form),
    /// A file, whose bytes are in a payload.
    Large(Value),
}

/// How a body is read.
pub(super) struct Reading<'r> {
    pub(super) payloads: &'r Payloads,
    /// Bytes of the body.
    pub(super) body_max: usize,
    /// Bytes of a text that a command carries.
    pub(super) text_max: usize,
}

impl Reading<'_> {
    /// Reads a body to its end. A body that declares more bytes than the limit is refused before any
    /// of them is read.
    pub(super) async fn read(&self, headers: &HeaderMap, body: Body) -> Result<Arrived, Problem> {
        let declared = axum::body::HttpBody::size_hint(&body).lower();
        if usize::try_from(declared).map_or(true, |declared| declared > self.body_max) {
            return Err(Problem::too_large(self.body_max));
        }
        let line = headers.get(CONTENT_TYPE).and_then(|value| value.to_str().ok());
        let body = Body::new(Limited::new(body, self.body_max)).into_data_stream();
        if content_type(headers).as_deref() == Some("multipart/form-data") {
            let limits = FormLimits {
                payloads: Some(self.payloads),
                memory_max: self.payloads.inline_max(),
                body_max: self.body_max,
            };
            let form = form::multipart(line.unwrap_or_default(), body, &limits).await?;
            return Ok(Arrived::Form(form));
        }
        let is_text = !matches!(media::text(line, b""), Ok(None));
        let memory_max = if is_text { self.text_max } else { self.payloads.inline_max() };
        self.read_one(headers, body, memory_max).await
    }

    async fn read_one(
        &self,
        headers: &HeaderMap,
        mut body: axum::body::BodyDataStream,
        memory_max: usize,
    ) -> Result<Arrived, Problem> {
        let mut bytes = Vec::new();
        while let Some(more) = body.next().await {
            bytes.extend_from_slice(&more.map_err(|error| unread(&error, self.body_max))?);
            if bytes.len() <= memory_max {
                continue;
            }
            let begin = stream::iter([Ok(Bytes::from(bytes))]);
            let kept = self.payloads.keep(begin.chain(body)).await;
            let kept = kept.map_err(|error| form::unkept(error, self.body_max))?;
            let (name, kind) = named(headers);
            return Ok(Arrived::Large(file::large(&name, &kind, kept.size, &kept.hash)));
        }
        Ok(Arrived::Bytes(bytes.into()))
    }
}
