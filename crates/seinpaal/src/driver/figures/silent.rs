//! The functions of [the other file](recorded.rs) for builds without the feature `metrics`. They
//! record nothing and cost nothing.

use seinpaal_proto::{
    Name,
    queue::session::{DeliveryEnd, Loss},
};

use crate::{error::AcquireError, permit_state::Lost, store::StoreError};

pub(crate) struct RequestFigure;

impl RequestFigure {
    pub(crate) fn new(_name: &Name) -> Self {
        Self
    }

    pub(crate) fn queued(&mut self, _waiting: u32) {}

    pub(crate) fn granted(&self, _permits: u32, _limit: u32) -> HoldFigure {
        HoldFigure
    }

    pub(crate) fn refused(&self, _error: &AcquireError) {}

    pub(crate) fn abandoned(&self) {}
}

pub(crate) struct HoldFigure;

impl HoldFigure {
    pub(crate) fn renewed(&self) {}

    pub(crate) fn lost(&self, _how: Lost) {}

    pub(crate) fn is_over(&self) {}
}

pub(crate) struct CallFigure;

impl CallFigure {
    pub(crate) fn begin(_about: &'static str) -> Self {
        Self
    }

    pub(crate) fn end(self, _error: Option<&StoreError>) {}
}

pub(crate) fn reconnected() {}

pub(crate) fn delivery_finished(_queue: &Name, _end: DeliveryEnd) {}

pub(crate) fn delivery_lost(_queue: &Name, _loss: Loss) {}

pub(crate) fn in_work(_queue: &Name, _items: usize) {}
