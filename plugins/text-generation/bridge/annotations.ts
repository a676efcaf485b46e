import { asArray, type ChunkObject, isChunkObject, textOf } from '../chat/chunk.ts'
import type { Citation, Logprob } from './events.ts'

/** Translates `logprobs` of a chat completion. `bytes` may be null there, but clients of responses require an array. */
export const toLogprobs = (logprobs: unknown): Logprob[] =>
  asArray(isChunkObject(logprobs) ? logprobs.content : undefined)
    .filter(isChunkObject)
    .map((token) => ({
      ...toLogprob(token),
      top_logprobs: asArray(token.top_logprobs).filter(isChunkObject).map(toLogprob),
    }))

const toLogprob = ({ token, logprob, bytes }: ChunkObject) => ({
  token: textOf(token),
  logprob: logprob as number,
  bytes: [...asArray(bytes)] as number[],
})

/** Translates `annotations` of a chat completion, which nests their members. Only type `url_citation` exists in both protocols; others are left out. */
export const toCitations = (annotations: unknown): Citation[] =>
  asArray(annotations).flatMap((annotation) => {
    if (!isChunkObject(annotation) || annotation.type !== 'url_citation') return []
    const members = isChunkObject(annotation.url_citation) ? annotation.url_citation : annotation
    const { start_index = 0, end_index = 0 } = members
    return [
      {
        type: 'url_citation' as const,
        url: textOf(members.url),
        title: textOf(members.title),
        start_index: start_index as number,
        end_index: end_index as number,
      },
    ]
  })
