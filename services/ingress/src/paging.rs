//! The part of a list that a request asks for: `page` and `pageSize`, or `skip` and `take`.

use model::limits;
use store::Page;

use crate::Problem;
use crate::body::Params;

/// The number of items on a page if the request gives none.
const SIZE: u64 = 100;
/// The last page that may be asked for.
pub(crate) const PAGE_MAX: u64 = limits::PAGE_SKIP_MAX / limits::PAGE_ITEMS_MAX;

/// The names of a part in a query.
const NAMES: [&str; 4] = ["page", "pageSize", "skip", "take"];

/// The part of a list, as a request names it.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Part {
    /// The number of pages to leave out.
    pub(crate) page: Option<u64>,
    pub(crate) page_size: Option<u64>,
    /// The number of items to leave out; instead of `page`.
    pub(crate) skip: Option<u64>,
    /// Another name of `page_size`.
    pub(crate) take: Option<u64>,
}

impl Part {
    /// The part that the query of a list names, which may have these filters beside.
    ///
    /// # Errors
    /// 400 for another name: without the filter that it is meant to be, the list would have more than
    /// was asked for.
    pub(crate) fn of_list(params: &Params, filters: &[&str]) -> Result<Self, Problem> {
        params.only(&[filters, &NAMES].concat())?;
        Self::of(params)
    }

    /// The part that the query names.
    pub(crate) fn of(params: &Params) -> Result<Self, Problem> {
        Ok(Self {
            page: params.read("page")?,
            page_size: params.read("pageSize")?,
            skip: params.read("skip")?,
            take: params.read("take")?,
        })
    }

    /// This part, and what it does not say from another one, which must be a part, too.
    pub(crate) fn or(self, other: Self) -> Result<Self, Problem> {
        other.page()?;
        Ok(Self {
            page: self.page.or(other.page),
            page_size: self.page_size.or(other.page_size),
            skip: self.skip.or(other.skip),
            take: self.take.or(other.take),
        })
    }

    /// The same part. One that says nothing is as much as one answer may have: clients that ask for no
    /// page expect all.
    pub(crate) fn or_all(self) -> Self {
        let Self { page, page_size, skip, take } = self;
        let says_nothing = [page, page_size, skip, take].iter().all(Option::is_none);
        Self { page_size: page_size.or(says_nothing.then_some(limits::PAGE_ITEMS_MAX)), ..self }
    }

    /// The page of the list. A page has at most [`limits::PAGE_ITEMS_MAX`] items; the total in the
    /// answer shows that there are more. A page of none has the total alone.
    pub(crate) fn page(self) -> Result<Page, Problem> {
        let size = self.page_size.or(self.take).unwrap_or(SIZE);
        let take = Page::new(0, size).take();
        let skip = match (self.skip, self.page) {
            // No page of any size begins later than this one.
            (_, Some(page)) if page > PAGE_MAX => None,
            (Some(skip), _) => Some(skip),
            (None, Some(page)) => page.checked_mul(take),
            (None, None) => Some(0),
        };
        match skip {
            Some(skip) if skip <= limits::PAGE_SKIP_MAX => Ok(Page::new(skip, take)),
            _ => Err(Problem::bad_request(format!(
                "page or skip leaves out more than {} items, which is the most: use a filter",
                limits::PAGE_SKIP_MAX
            ))),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_query_of_a_list_has_its_filters_and_a_part_alone() {
        let of = |name: &str| {
            let params = Params(vec![(name.to_owned(), "3".to_owned())]);
            Part::of_list(&params, &["who", "what"])
        };
        assert_eq!(of("PageSize").unwrap().page_size, Some(3));
        assert!(of("Who").is_ok());
        let detail = of("whom").unwrap_err().detail().to_owned();
        let expected = "there is no query parameter \"whom\" here: use who, what, page, pageSize, \
                        skip, take";
        assert_eq!(detail, expected);
    }

    #[test]
    fn parts_have_bounds() {
        let page = |page, size| Part { page, page_size: size, ..Part::default() }.page();
        assert_eq!(page(None, None).unwrap(), Page::new(0, 100));
        assert_eq!(page(Some(3), Some(20)).unwrap(), Page::new(60, 20));
        assert_eq!(Part::default().or_all().page().unwrap(), Page::first());
        let second = Part { page: Some(1), ..Part::default() };
        assert_eq!(second.or_all().page().unwrap(), Page::new(100, 100));
        assert_eq!(page(Some(3), Some(0)).unwrap(), Page::new(0, 0));
        // The page after a full one begins where the full one ends.
        assert_eq!(page(Some(1), Some(u64::MAX)).unwrap(), Page::new(1_000, 1_000));
        for number in [1 << 63, u64::MAX, limits::PAGE_SKIP_MAX + 1] {
            let detail = page(Some(number), None).unwrap_err().detail().to_owned();
            assert!(detail.contains(&limits::PAGE_SKIP_MAX.to_string()), "{detail}");
            assert!(Part { skip: Some(number), ..Part::default() }.page().is_err());
        }
    }
}
