import { type ChunkObject, elementsOf, isChunkObject, textOf } from '../chat/chunk.ts'
import type { Citation, Logprob } from './events.ts'

/** Probabilities as a response has them. Readers want the bytes too, where a chat completion may have null. */
export const toLogprobs = (logprobs: unknown): Logprob[] =>
  elementsOf(isChunkObject(logprobs) ? logprobs.content : undefined)
    .filter(isChunkObject)
    .map((token) => ({
      ...toLogprob(token),
      top_logprobs: elementsOf(token.top_logprobs).filter(isChunkObject).map(toLogprob),
    }))

const toLogprob = ({ token, logprob, bytes }: ChunkObject) => ({
  token: textOf(token),
  logprob: logprob as number,
  bytes: [...elementsOf(bytes)] as number[],
})

/** Sources as a response has them: chat completions nest what they say. Those of other kinds have no form there, and are left out. */
export const toCitations = (annotations: unknown): Citation[] =>
  elementsOf(annotations).flatMap((annotation) => {
    if (!isChunkObject(annotation) || annotation.type !== 'url_citation') return []
    const said = isChunkObject(annotation.url_citation) ? annotation.url_citation : annotation
    const { start_index = 0, end_index = 0 } = said
    return [
      {
        type: 'url_citation' as const,
        url: textOf(said.url),
        title: textOf(said.title),
        start_index: start_index as number,
        end_index: end_index as number,
      },
    ]
  })
