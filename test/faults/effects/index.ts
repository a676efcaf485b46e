import type { FaultReply, FaultRequest, FaultWorld } from '../world.ts'
import type { Effects } from './effect.ts'
import { generationEffects } from './generation.ts'
import { libraryEffects } from './library.ts'
import { peopleEffects } from './people.ts'

/** How to see the effects of the routes that write. */
const effects: Effects = { ...libraryEffects, ...peopleEffects, ...generationEffects }

/** Routes that do not only read by their method, and that write nothing of which they tell. */
const without: Readonly<Record<string, string>> = {
  'POST /v1/chat/completions': 'the answer is all',
  'POST /v1/embeddings': 'the answer is all',
  'POST /v1/completions': 'the answer is all',
  'POST /v1/messages': 'the answer is all',
  'POST /v1/messages/count_tokens': 'the answer is all',
  'POST /v1/responses/compact': 'the answer is all',
  'POST /v1/responses/input_tokens': 'the answer is all',
  'POST /v1/responses/{}/cancel': 'it is the upstream that cancels',
  'POST /api/v3/contents/generations/callbacks/{}/{}': 'a hint that the task is to be read soon',
  'POST /mcp': 'the tool of this request reads',
  'POST /api/admin/audit/verification': 'it reads the trail',
}

/** Whether the effect of a request exists that was acknowledged. Of routes that write nothing: true. */
export const isThere = async (
  world: FaultWorld,
  route: string,
  request: FaultRequest,
  reply: FaultReply,
): Promise<boolean> => {
  const json = reply.text.startsWith('{') ? JSON.parse(reply.text) : undefined
  return (await effects[route]?.(world, { request, reply, json })) ?? true
}

/** The routes that write by their method, and of which nobody says what they write; and those that do not exist. */
export const unknownEffects = (routes: readonly string[]): readonly string[] => {
  const named = new Set([...Object.keys(effects), ...Object.keys(without)])
  return [
    ...routes.filter((route) => !route.startsWith('GET ') && !named.has(route)),
    ...[...named].filter((route) => !routes.includes(route)),
  ]
}
