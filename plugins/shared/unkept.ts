/** An answer that no browser and no proxy keeps (RFC 9111 section 5.2.2.5): it says who somebody is, or holds a secret. */
export const unkept = (response: Response): Response => {
  response.headers.set('cache-control', 'no-store')
  return response
}

/** The same of an object, as JSON. */
export const unkeptJson = (content: object): Response =>
  unkept(new Response(JSON.stringify(content), { headers: { 'content-type': 'application/json' } }))
