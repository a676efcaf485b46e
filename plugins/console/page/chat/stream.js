import { ApiError, isAbort } from '../api/api-error.js'
import { t } from '../words/words.js'

/**
 * Yields the data of each event of an event stream (WHATWG HTML, section 9.2).
 * @param {ReadableStream<Uint8Array>} body
 * @param {() => Promise<void>} [pause] awaited between two reads
 */
export async function* readEvents(body, pause) {
  const reader = body.getReader()
  const decoder = new TextDecoder()
  let rest = ''
  /** @type {string[]} */
  let data = []
  try {
    while (true) {
      const { done, value } = await reader.read()
      rest += done ? decoder.decode() : decoder.decode(value, { stream: true })
      // A carriage return at the end of the chunk may be the first half of CR LF.
      const lines = rest.split(/\r\n|\n|\r(?!$)/)
      rest = done ? '' : (lines.pop() ?? '')
      for (const line of lines) {
        if (line === '' && data.length > 0) {
          yield data.join('\n')
          data = []
        } else if (line.startsWith('data:')) data.push(line.slice(line.startsWith('data: ') ? 6 : 5))
      }
      if (done) return
      await pause?.()
    }
  } finally {
    reader.cancel().catch(() => {})
  }
}

/**
 * @typedef {{ content: string, reasoning: string, usage?: { prompt_tokens?: number, completion_tokens?: number } }}
 * Delta
 */

/**
 * Yields the deltas of a streamed chat completion. Throws ApiError for an error event, and when the stream ends without
 * `[DONE]`.
 * @param {ReadableStream<Uint8Array>} body
 * @param {() => Promise<void>} [pause] awaited between two reads
 * @returns {AsyncGenerator<Delta>}
 */
export async function* readCompletion(body, pause) {
  try {
    for await (const data of readEvents(body, pause)) {
      if (data === '[DONE]') return
      const chunk = JSON.parse(data)
      if (chunk.error) throw new ApiError(502, String(chunk.error.message ?? t.errors.incomplete))
      const delta = chunk.choices?.[0]?.delta ?? {}
      yield { content: delta.content ?? '', reasoning: delta.reasoning_content ?? '', usage: chunk.usage ?? undefined }
    }
  } catch (error) {
    if (error instanceof ApiError || isAbort(error)) throw error
    throw new ApiError(0, t.errors.incomplete)
  }
  throw new ApiError(0, t.errors.incomplete)
}
