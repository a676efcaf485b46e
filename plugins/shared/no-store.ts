/** Forbids browsers and proxies to cache a response (RFC 9111 section 5.2.2.5), because it contains personal data or a secret. */
export const noStore = (response: Response): Response => {
  response.headers.set('cache-control', 'no-store')
  return response
}

/** A JSON response that must not be cached. */
export const noStoreJson = (content: object): Response =>
  noStore(new Response(JSON.stringify(content), { headers: { 'content-type': 'application/json' } }))
