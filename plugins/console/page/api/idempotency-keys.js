/**
 * Idempotency keys of one form. A request that may have reached the server gets the same key when it is sent again, so
 * it creates nothing twice.
 */
export const createIdempotencyKeys = () => {
  let sent = { text: '', key: '' }
  return {
    /**
     * The key of a request: the same one for the same body, until `succeeded`.
     * @param {object} body
     */
    keyOf(body) {
      const text = JSON.stringify(body)
      if (sent.text !== text) sent = { text, key: crypto.randomUUID() }
      return sent.key
    },
    /** The next request is a new one, also with the same body. */
    succeeded() {
      sent = { text: '', key: '' }
    },
  }
}
