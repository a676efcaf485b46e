import { message, response, text } from './responses-assembly-corpus.ts'
import { eventsOf, type Members, wire, written } from './responses-assembly-streams.ts'

export const plain = response([message([text('Hello there, you two.')])])
export const stream = wire(eventsOf(plain))
export const delta = (more: Members): string =>
  written({ type: 'response.output_text.delta', delta: 'x', logprobs: [], ...more }, 1)
export const ending = (more: Members, type = 'response.completed') => written({ type, response: more }, 9)
