//! This module has the handle by which parts inside the host reach it: agents that ask each other, compositions, tools
//! of models, and connections that outlive a change of the deployment.
//!
//! These parts are built before there is a host, so a [`HostHandle`] is bound once, when there is one. Each use looks
//! up the state that serves now: after the deployment was replaced, the new one.

use std::any::{Any, TypeId};
use std::collections::HashMap;
use std::fmt;
use std::marker::PhantomData;
use std::sync::{Arc, OnceLock, Weak};

use forecourt_core::{Error, Message, Reply};
use futures::FutureExt;
use futures::future::BoxFuture;
use parking_lot::RwLock;

use super::{Dispatcher, Native};
use crate::negotiation::Negotiation;

/// What a host offers to its own parts. Each method answers for the state of the deployment that serves when it is
/// called.
pub trait HostApi: Send + Sync {
    /// Carries a message to its agent. Dropping the future, or the reply, stops the work.
    ///
    /// A refusal is an answer. Fails as the host does: no such agent, too many hops, too busy.
    fn receive(self: Arc<Self>, _message: Message) -> BoxFuture<'static, Result<Reply, Error>> {
        async { Err(Error::unavailable()) }.boxed()
    }

    /// The endpoints.
    fn dispatcher(self: Arc<Self>) -> Option<Arc<Dispatcher>> {
        None
    }

    /// What the protocols have set up.
    fn services(self: Arc<Self>) -> Option<Arc<HostServices>> {
        None
    }
}

/// A dispatcher alone, for compositions without a host around them.
impl HostApi for Dispatcher {
    fn dispatcher(self: Arc<Self>) -> Option<Arc<Dispatcher>> {
        Some(self)
    }
}

/// A weak reference to the host, for its own parts. Cheap to clone; all clones lead to the same host, and none keeps it
/// alive.
#[derive(Clone, Default)]
pub struct HostHandle(Arc<OnceLock<Weak<dyn HostApi>>>);

impl HostHandle {
    /// Binds the handle to `host`. Later calls do nothing: another host has agents, and so handles, of its own.
    pub fn bind<H: HostApi + 'static>(&self, host: &Arc<H>) {
        // Weak: the host owns its agents, and they hold this handle; a strong reference would keep both for ever.
        let weak: Weak<H> = Arc::downgrade(host);
        let _ = self.0.set(weak);
    }

    /// Carries a message to its agent, as [`HostApi::receive`] does. Fails with [`Error::Unavailable`]
    /// while there is no host.
    pub fn receive(&self, message: Message) -> BoxFuture<'static, Result<Reply, Error>> {
        match self.host() {
            Some(host) => host.receive(message),
            None => async { Err(Error::unavailable()) }.boxed(),
        }
    }

    /// The endpoints. `None` while there is no host.
    pub fn dispatcher(&self) -> Option<Arc<Dispatcher>> {
        self.host()?.dispatcher()
    }

    /// What answers the pairs of [`crate::Tier::Native`], once a protocol has set it up.
    pub fn native(&self) -> Option<Arc<dyn Native>> {
        self.host()?.services()?.native()
    }

    /// What makes contracts while the host serves, once a protocol has set it up.
    pub fn negotiation(&self) -> Option<Arc<dyn Negotiation>> {
        self.host()?.services()?.negotiation()
    }

    /// What was set up under this type: [`HostServices::publish`].
    pub fn service<T: Send + Sync + 'static>(&self) -> Option<Arc<T>> {
        self.host()?.services()?.get()
    }

    fn host(&self) -> Option<Arc<dyn HostApi>> {
        self.0.get()?.upgrade()
    }
}

impl fmt::Debug for HostHandle {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("HostHandle").field("is_bound", &self.host().is_some()).finish()
    }
}

/// What was set up for one state of the deployment, by type: the services of protocols, which connections
/// and sessions that outlive that state look up again by each request.
#[derive(Default)]
pub struct HostServices {
    by_type: RwLock<HashMap<TypeId, Arc<dyn Any + Send + Sync>>>,
    native: OnceLock<Arc<dyn Native>>,
    negotiation: OnceLock<Arc<dyn Negotiation>>,
    handle: HostHandle,
}

impl HostServices {
    /// No services yet; `handle` leads to the host that will hold them.
    pub fn new(handle: HostHandle) -> HostServices {
        HostServices { handle, ..HostServices::default() }
    }

    /// Sets up a service, in place of an earlier one of its type. Returns the reference that connections keep.
    pub fn publish<T: Send + Sync + 'static>(&self, service: Arc<T>) -> Current<T> {
        self.by_type.write().insert(TypeId::of::<T>(), service);
        self.current()
    }

    /// The value of a type that outlives changes of the deployment, such as open sessions: taken over from the state
    /// that serves now, or made by `make`. It is set up here too, for the next state.
    pub fn keep<T: Send + Sync + 'static>(&self, make: impl FnOnce() -> T) -> Arc<T> {
        // While a new state is built, `current` still leads to the one that serves. Its value is taken over, so that
        // sessions survive the replacement.
        let kept = self.current::<T>().load().or_else(|| self.get()).unwrap_or_else(|| Arc::new(make()));
        self.publish(kept.clone());
        kept
    }

    /// Sets up what answers the pairs of [`crate::Tier::Native`]. The first one stays.
    pub fn publish_native(&self, native: Arc<dyn Native>) {
        let _ = self.native.set(native);
    }

    /// Sets up what makes contracts while the host serves. The first one stays.
    pub fn publish_negotiation(&self, negotiation: Arc<dyn Negotiation>) {
        let _ = self.negotiation.set(negotiation);
    }

    /// The service of a type, as it was set up here.
    pub fn get<T: Send + Sync + 'static>(&self) -> Option<Arc<T>> {
        self.by_type.read().get(&TypeId::of::<T>()).cloned()?.downcast().ok()
    }

    /// The service of a type, as it will be found in whichever state the deployment is then.
    pub fn current<T: Send + Sync + 'static>(&self) -> Current<T> {
        Current { handle: self.handle.clone(), of: PhantomData }
    }

    /// The way to the host.
    pub fn handle(&self) -> &HostHandle {
        &self.handle
    }

    fn native(&self) -> Option<Arc<dyn Native>> {
        self.native.get().cloned()
    }

    fn negotiation(&self) -> Option<Arc<dyn Negotiation>> {
        self.negotiation.get().cloned()
    }
}

/// A service of the host as it stands now. A cheap clone that keeps nothing alive: what a connection or a
/// session holds instead of the service itself, so that its next request meets the new state of the deployment
/// and the old one can go.
pub struct Current<T> {
    handle: HostHandle,
    // `fn() -> T`, so that this is `Send` and `Sync` whatever `T` is: it owns none.
    of: PhantomData<fn() -> T>,
}

impl<T> Clone for Current<T> {
    fn clone(&self) -> Self {
        Self { handle: self.handle.clone(), of: PhantomData }
    }
}

impl<T: Send + Sync + 'static> Current<T> {
    /// The service for one request, which keeps it until the request has ended. `None` when the host is
    /// gone, or has no such service any more.
    pub fn load(&self) -> Option<Arc<T>> {
        self.handle.service()
    }
}

#[cfg(test)]
mod tests {
    use parking_lot::Mutex;

    use super::*;

    /// A host whose services are replaced.
    struct Replaced(Mutex<Arc<HostServices>>);

    impl HostApi for Replaced {
        fn services(self: Arc<Self>) -> Option<Arc<HostServices>> {
            Some(self.0.lock().clone())
        }
    }

    #[test]
    fn what_is_kept_leads_to_the_newest_service_and_keeps_none_alive() {
        let handle = HostHandle::default();
        let first = Arc::new(HostServices::new(handle.clone()));
        let current = first.publish(Arc::new(1_u32));
        assert_eq!(current.load(), None, "there is no host yet");
        let host = Arc::new(Replaced(Mutex::new(first.clone())));
        handle.bind(&host);
        assert_eq!(current.load().as_deref(), Some(&1));
        let second = Arc::new(HostServices::new(handle.clone()));
        second.publish(Arc::new(2_u32));
        *host.0.lock() = second;
        assert_eq!(current.load().as_deref(), Some(&2));
        assert_eq!(Arc::strong_count(&first), 1, "nothing but this test has the old one");
        let third = HostServices::new(handle.clone());
        assert_eq!(*third.keep(|| 3_u32), 2, "what is there is kept");
        assert_eq!(*third.keep(|| 'x'), 'x');
        drop(host);
        assert_eq!(current.load(), None);
    }

    #[test]
    fn a_dispatcher_can_stand_for_its_host() {
        let handle = HostHandle::default();
        assert!(handle.dispatcher().is_none());
        let dispatcher = Arc::new(Dispatcher { host: handle.clone(), ..Dispatcher::default() });
        handle.bind(&dispatcher);
        assert!(Arc::ptr_eq(&handle.dispatcher().unwrap(), &dispatcher));
        assert!(handle.native().is_none());
        drop(dispatcher);
        assert!(handle.dispatcher().is_none(), "the handle is weak, though the dispatcher holds it");
    }
}
