"""Ends the streams of a page, as a server does when a sign-in has expired."""

from __future__ import annotations

from collections.abc import Callable

from playwright.sync_api import Page

END_STREAMS = """(() => {
    const fetched = window.fetch;
    const heard = [];
    window.heardStreams = (number) => new Promise((passed) => {
        const look = () => (heard.length < number ? setTimeout(look, 20) : passed());
        look();
    });
    window.endStreams = () => { for (const stop of heard.splice(0)) stop.abort(); };
    window.fetch = async (address, options = {}) => {
        const response = await fetched(address, options);
        if (!String(address).endsWith("/stream") || !response.ok) return response;
        const stop = new AbortController();
        let isFirst = true;
        const transform = (chunk, controller) => {
            controller.enqueue(chunk);
            if (isFirst) heard.push(stop);
            isFirst = false;
        };
        const { readable, writable } = new TransformStream({ transform });
        response.body.pipeTo(writable, { signal: stop.signal, preventAbort: true }).catch(() => writable.close());
        return new Response(readable, response);
    };
})()"""
"""A script to add to a page before it is opened."""


def end_streams(page: Page, number: int, forget: Callable[[], object]) -> None:
    """Wait for the first events of this number of streams, end the sign-in with `forget`, and end the streams."""
    page.evaluate("number => window.heardStreams(number)", number)
    forget()
    page.evaluate("() => window.endStreams()")


def forget_token(page: Page) -> None:
    """Replace the token with an invalid one, as if it had expired."""
    page.evaluate("sessionStorage.setItem('partita-token', 'rubbish')")
