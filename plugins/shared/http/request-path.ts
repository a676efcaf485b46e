/** The path of a request's URL, percent-encoded as the caller sent it, and without the query. */
export const requestPath = (url: string): string => url.slice(url.indexOf('/', 8)).split('?', 1)[0] ?? ''
