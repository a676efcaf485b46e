/** An answer that no browser and no proxy keeps (RFC 9111 section 5.2.2.5): it says who somebody is, or holds a secret. */
export const noStore = (response: Response): Response => {
  response.headers.set('cache-control', 'no-store')
  return response
}

/** The same of an object, as JSON. */
export const noStoreJson = (content: object): Response =>
  noStore(new Response(JSON.stringify(content), { headers: { 'content-type': 'application/json' } }))
