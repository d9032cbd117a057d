//! The functions of a script that need no scope: texts, encodings, random numbers, dates and spans.

use std::cell::Cell;
use std::rc::Rc;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use rquickjs::function::Opt;
use rquickjs::{Coerced, Ctx, Exception, Function, Object, Result, TypedArray, Value};
use uuid::Uuid;

use super::{Host, text};

/// The number of elements of the longest array that an uninterruptible function may go through.
const GUARDED_ELEMENTS_MAX: f64 = 1_000_000.0;
/// The number of characters that an uninterruptible search may have to compare.
const GUARDED_COMPARISONS_MAX: f64 = 1_000_000_000.0;

impl<'js> Host<'_, 'js> {
    /// Puts the functions that the text mentions into the context.
    pub(super) fn library(&self) -> Result<()> {
        self.texts()?;
        self.bytes()?;
        self.chance()?;
        self.types()?;
        self.code()?;
        self.guard()
    }

    fn texts(&self) -> Result<()> {
        self.add("isNullOrEmpty", |value: Opt<Value<'js>>| -> Result<bool> {
            Ok(text(value)?.is_none_or(|text| text.is_empty()))
        })?;
        self.add("isNullOrWhiteSpace", |value: Opt<Value<'js>>| -> Result<bool> {
            Ok(text(value)?.is_none_or(|text| text.trim().is_empty()))
        })?;
        self.add("toJson", |ctx: Ctx<'js>, value: Value<'js>| ctx.json_stringify(value))?;
        self.add("stringToBase64", |value: Coerced<String>| STANDARD.encode(value.0))?;
        self.add("stringFromBase64", |ctx: Ctx<'js>, value: Coerced<String>| {
            utf8(&ctx, decode(&ctx, &value.0)?)
        })?;
        self.add("parseGuid", parse_guid)?;
        Ok(())
    }

    fn bytes(&self) -> Result<()> {
        let bytes = ["bytesToString", "bytesFromString", "bytesToBase64", "bytesFromBase64"];
        let streams = ["streamToBytes", "streamToBase64", "Uint8Array"];
        if self.plan.mentions_any(&bytes) || self.plan.mentions_any(&streams) {
            let ctx = self.ctx;
            let natives = (
                Function::new(ctx.clone(), |bytes: Vec<u8>| STANDARD.encode(bytes))?,
                Function::new(ctx.clone(), |ctx: Ctx<'js>, text: String| {
                    TypedArray::<u8>::new(ctx.clone(), decode(&ctx, &text)?)
                })?,
                Function::new(ctx.clone(), |ctx: Ctx<'js>, bytes: Vec<u8>| utf8(&ctx, bytes))?,
                Function::new(ctx.clone(), |ctx: Ctx<'js>, text: String| {
                    TypedArray::<u8>::new(ctx, text.into_bytes())
                })?,
            );
            self.prelude(include_str!("../prelude/bytes.js"))?.call::<_, ()>(natives)?;
        }
        Ok(())
    }

    fn chance(&self) -> Result<()> {
        let (seed, session) = (Uuid::from_bytes(self.facts.seed), Rc::clone(self.session));
        let guid = move || {
            let mut session = session.borrow_mut();
            session.guids += 1;
            let derived = Uuid::new_v5(&seed, &session.guids.to_be_bytes());
            uuid::Builder::from_random_bytes(derived.into_bytes()).into_uuid()
        };
        for name in ["newGuid", "newGuidString", "getGuidString"] {
            let guid = guid.clone();
            self.add(name, move || guid().to_string())?;
        }
        for name in ["newShortGuid", "getShortGuid"] {
            let guid = guid.clone();
            // Letters and digits alone, as Elsa has it; so some are shorter.
            let short = move || STANDARD.encode(guid().as_bytes()).replace(['/', '+', '='], "");
            self.add(name, short)?;
        }
        if self.plan.draws() {
            let math: Object<'js> = self.globals.get("Math")?;
            math.set("random", Function::new(self.ctx.clone(), random(self.facts.seed))?)?;
        }
        if self.plan.mentions_any(&["Guid", "Random"]) {
            let natives = (
                Function::new(self.ctx.clone(), move || guid().to_string())?,
                Function::new(self.ctx.clone(), parse_guid)?,
            );
            self.prelude(include_str!("../prelude/guid.js"))?.call::<_, ()>(natives)?;
        }
        Ok(())
    }

    fn types(&self) -> Result<()> {
        // Whole milliseconds of a date fit a double exactly.
        let now = self.facts.now.as_millis() as f64;
        let dates = self.plan.mentions_any(&["DateTime", "DateTimeOffset"]);
        if dates || self.plan.mentions("Date") {
            self.prelude(include_str!("../prelude/date.js"))?.call::<_, ()>((now,))?;
        }
        if dates || self.plan.mentions("TimeSpan") {
            self.prelude(include_str!("../prelude/timespan.js"))?.call::<_, ()>(())?;
        }
        if dates {
            self.prelude(include_str!("../prelude/datetime.js"))?.call::<_, ()>((now,))?;
        }
        Ok(())
    }

    fn code(&self) -> Result<()> {
        if self.plan.computes_names && !self.plan.mentions_everything() {
            let refuse = Function::new(self.ctx.clone(), |ctx: Ctx<'js>| -> Result<()> {
                let message = "to make code from a text, a script has to name Function or eval";
                Err(Exception::throw_type(&ctx, message))
            })?;
            self.prelude(include_str!("../prelude/code.js"))?.call::<_, ()>((refuse,))?;
        }
        Ok(())
    }

    fn guard(&self) -> Result<()> {
        let (walkers, searches) = self.plan.guarded();
        if !walkers.is_empty() || !searches.is_empty() {
            let is_proxy = Function::new(self.ctx.clone(), |value: Value<'js>| value.is_proxy())?;
            let limits =
                (walkers, searches, GUARDED_ELEMENTS_MAX, GUARDED_COMPARISONS_MAX, is_proxy);
            self.prelude(include_str!("../prelude/guard.js"))?.call::<_, ()>(limits)?;
        }
        Ok(())
    }
}

fn parse_guid(ctx: Ctx<'_>, text: Coerced<String>) -> Result<String> {
    match Uuid::try_parse(text.0.trim()) {
        Ok(guid) => Ok(guid.to_string()),
        Err(_) => Err(Exception::throw_type(&ctx, &format!("{:?} is not a GUID", text.0))),
    }
}

fn decode(ctx: &Ctx<'_>, text: &str) -> Result<Vec<u8>> {
    let decoded = STANDARD.decode(text);
    decoded.map_err(|error| Exception::throw_type(ctx, &format!("not base64: {error}")))
}

fn utf8(ctx: &Ctx<'_>, bytes: Vec<u8>) -> Result<String> {
    let text = String::from_utf8(bytes);
    text.map_err(|error| Exception::throw_type(ctx, &format!("the bytes are not UTF-8: {error}")))
}

/// Numbers in [0, 1) from a seed: xorshift128+.
fn random(seed: [u8; 16]) -> impl Fn() -> f64 {
    let (low, high) = Uuid::from_bytes(seed).as_u64_pair();
    let state = Cell::new((low | 1, high));
    move || {
        let (mut x, y) = state.get();
        x ^= x << 23;
        let next = x ^ y ^ (x >> 17) ^ (y >> 26);
        state.set((y, next));
        // The upper 53 bits fit a double exactly.
        (next.wrapping_add(y) >> 11) as f64 / 9_007_199_254_740_992.0
    }
}
