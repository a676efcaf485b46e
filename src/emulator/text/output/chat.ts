import type { Model } from '../catalogue.ts'
import type { Generation, ToolCall } from '../generation/generation.ts'
import { logprobOf } from '../generation/tokens.ts'
import { chatUsage, type Usage } from '../generation/usage.ts'
import type { ChatRequest } from '../request/chat-request.ts'
import { type CallContext, fingerprintOf, secondsOf, textIdOf } from './call-context.ts'
import { delta, eventOf, type Steps } from './steps.ts'

/** The input of the serialization of a chat completion. */
export interface GeneratedChat {
  readonly request: ChatRequest
  readonly generations: readonly Generation[]
  readonly usage: Usage
  readonly callContext: CallContext
  /** for the fault `usage-on-every-chunk`: each chunk has the usage so far */
  readonly usageOnEveryChunk?: boolean
}

/** The chat completion object. */
export const completionOf = ({ request, generations, usage, callContext }: GeneratedChat): object => {
  const choices = generations.map((generation, index) => ({
    ...{ index, message: messageOf(generation, idsFor(callContext, index), request.prompt.model) },
    ...{
      logprobs: logprobsOf(generation, generation.text, request.prompt.topLogprobs),
      finish_reason: generation.finish,
    },
  }))
  return { ...commonFields(request, callContext, 'chat.completion'), choices, usage: chatUsage(usage) }
}

/** Streams the chat completion as chunks. Parallel choices, and parallel tool calls of one choice, are interleaved. */
export function* chunksOf({ request, generations, usage, callContext, usageOnEveryChunk }: GeneratedChat): Steps {
  const common = commonFields(request, callContext, 'chat.completion.chunk')
  let output = 0
  const chunk = (choices: readonly object[]) => ({
    ...{ ...common, choices },
    ...(usageOnEveryChunk
      ? { usage: chatUsage({ ...usage, output, reasoning: Math.min(output, usage.reasoning) }) }
      : {}),
    ...(request.includeUsage && !usageOnEveryChunk ? { usage: null } : {}),
    ...(request.obfuscates ? { obfuscation: 'x'.repeat(1 + (output % 7)) } : {}),
  })
  const streams = generations.map((generation, index) =>
    deltasOf(generation, idsFor(callContext, index), request.prompt.model),
  )
  for (const { index, item } of interleaved(streams)) {
    const generation = generations[index]
    const logprobs =
      generation && item.token !== undefined ? logprobsOf(generation, [item.token], request.prompt.topLogprobs) : null
    if (item.isToken) output++
    const event = eventOf(chunk([{ index, delta: item.delta, logprobs, finish_reason: item.finish ?? null }]))
    if (item.isToken) yield* delta(event)
    else yield event
  }
  if (request.includeUsage) yield eventOf({ ...chunk([]), usage: chatUsage(usage) })
  yield eventOf('[DONE]')
}

interface Delta {
  readonly delta: object
  /** whether it is a generated token */
  readonly isToken: boolean
  /** set when its log probability is reported */
  readonly token?: string
  readonly finish?: string
}

function* deltasOf(generation: Generation, idAt: (call: number) => string, { reasoningField }: Model): Iterable<Delta> {
  const { reasoning, text, isRefusal, calls, finish } = generation
  const content = isSilent(generation) || isRefusal ? null : ''
  yield { delta: { role: 'assistant', content, refusal: null }, isToken: false }
  for (const token of reasoning) yield { delta: { [reasoningField]: token }, isToken: true }
  for (const token of text) yield { delta: isRefusal ? { refusal: token } : { content: token }, isToken: true, token }
  const streams = calls.map((call, index) => callDeltas(call, idAt(index)))
  for (const { index, item } of interleaved(streams)) {
    yield { delta: { tool_calls: [{ index, ...item.call }] }, isToken: item.isToken }
  }
  yield { delta: {}, isToken: false, finish }
}

function* callDeltas(
  { tool, input }: ToolCall,
  id: string,
): Iterable<{ readonly call: object; readonly isToken: boolean }> {
  const { kind, name } = tool
  const field = kind === 'function' ? 'arguments' : 'input'
  yield { call: { id, type: kind, [kind]: { name, [field]: '' } }, isToken: false }
  for (const token of input) yield { call: { [kind]: { [field]: token } }, isToken: true }
}

/** Whether it has tool calls and no text. */
const isSilent = ({ text, calls }: Generation): boolean => calls.length > 0 && text.length === 0

const messageOf = (generation: Generation, idAt: (call: number) => string, { reasoningField }: Model): object => {
  const { reasoning, text: tokens, isRefusal, calls } = generation
  const text = tokens.join('')
  return {
    role: 'assistant',
    ...{ content: isSilent(generation) || isRefusal ? null : text, refusal: isRefusal ? text : null },
    ...(reasoning.length > 0 ? { [reasoningField]: reasoning.join('') } : {}),
    ...(calls.length > 0 ? { tool_calls: calls.map((call, index) => callOf(call, idAt(index))) } : {}),
  }
}

const callOf = ({ tool: { kind, name }, input }: ToolCall, id: string): object => ({
  id,
  type: kind,
  [kind]: { name, [kind === 'function' ? 'arguments' : 'input']: input.join('') },
})

const logprobsOf = (
  { isRefusal, calls }: Generation,
  tokens: readonly string[],
  top: number | undefined,
): object | null => {
  if (top === undefined || calls.length > 0) return null
  const entries = tokens.map((token) => logprobOf(token, top))
  return isRefusal ? { content: null, refusal: entries } : { content: entries, refusal: null }
}

const commonFields = ({ prompt, seed, tier }: ChatRequest, callContext: CallContext, object: string): object => {
  const model = prompt.model.id
  return {
    ...{ id: textIdOf('chatcmpl-', callContext), object, created: secondsOf(callContext), model },
    ...{ service_tier: tier, system_fingerprint: fingerprintOf(model, seed) },
  }
}

const idsFor = (callContext: CallContext, choice: number) => (call: number) =>
  textIdOf('call_', callContext, `${choice}/${call}`)

/** Yields one item of each stream in rotation until all streams have ended. */
function* interleaved<Item>(
  streams: readonly Iterable<Item>[],
): Iterable<{ readonly index: number; readonly item: Item }> {
  const open = new Map(streams.map((stream, index) => [index, stream[Symbol.iterator]()]))
  while (open.size > 0) {
    for (const [index, items] of open) {
      const { done, value } = items.next()
      if (done) open.delete(index)
      else yield { index, item: value }
    }
  }
}
