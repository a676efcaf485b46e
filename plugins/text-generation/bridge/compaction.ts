import { andThen } from '../../shared/awaitable.ts'
import { Pace, runInTurns, runSteps, type SteppedWork } from '../../shared/background/turns.ts'
import {
  composeArray,
  composeJson,
  composeObject,
  entriesPerTurn,
  isLarge,
  type Json,
  nonNullMember,
  toJson,
} from '../../shared/json/json.ts'
import { asJsonObject } from '../../shared/json/parsed.ts'
import { UpstreamInvalidError } from '../../shared/upstream/upstream-error.ts'
import { newGatewayId } from '../objects/gateway-ids.ts'
import type { Assembly } from '../protocol/assembly.ts'
import { indexInTurns } from '../protocol/index-in-turns.ts'
import { upstreamUnavailable } from '../protocol/problem.ts'
import type { Protocol } from '../protocol/protocol.ts'
import type { SealedReasoning } from '../protocol/sealed-reasoning.ts'
import { readModel } from '../protocol/validation.ts'
import { inputItemsOf } from '../responses/request.ts'

/**
 * `POST /v1/responses/compact` at an upstream that has chat completions only: the model summarizes the conversation.
 *
 * The response has the messages of the user, and an item with the encrypted summary, which the bridge reads back
 * (`summaryIn`).
 *
 * @param bridged the protocol of `/v1/responses`
 */
export const bridgedCompaction = (bridged: Protocol, sealedReasoning: SealedReasoning): Protocol => ({
  *validate(request, capabilities) {
    const model = readModel(request)
    // A conversation that the gateway stores needs no input.
    yield* bridged.validate(nonNullMember(request, 'input') ? request : request.with('input', noInput), capabilities)
    return { model, stream: false, stores: false, bridged: true }
  },
  toExchange(request, validated, capabilities, user) {
    const items = inputItemsOf(request)
    const asked = composeObject({
      model: request.get('model'),
      instructions: nonNullMember(request, 'instructions'),
      input: composeArray([...items, prompt]),
      store: toJson(false),
    }) as typeof request
    const seal = (summary: string) => sealedReasoning.seal(mark + summary, user)
    const read = isLarge(request) ? (indexInTurns(asked) as Promise<typeof request>) : asked
    const exchange = andThen(read, (whole) => bridged.toExchange(whole, validated, capabilities, user))
    const steps = messagesOfUser(items)
    const messages = isLarge(request) ? runInTurns(steps) : runSteps(steps)
    return andThen(exchange, (each) =>
      andThen(messages, (kept) => ({ ...each, assemble: () => compacting(each.assemble(), kept, seal) })),
    )
  },
})

function* messagesOfUser(items: readonly Json[]): SteppedWork<readonly Json[]> {
  const pace = new Pace(entriesPerTurn)
  const messages: Json[] = []
  for (const item of items) {
    if (pace.isDue()) yield
    if (item.get('role')?.string() === 'user') messages.push(item)
  }
  return messages
}

/** The summary in the decrypted content of a compaction item. Undefined for content that is none. */
export const summaryIn = (opened: string | undefined): string | undefined =>
  opened?.startsWith(mark) ? opened.slice(mark.length) : undefined

/** Distinguishes summaries from reasoning, which is encrypted in the same way. */
const mark = 'summary\n'

const noInput = toJson([])

const prompt = toJson({
  role: 'user',
  content: [
    'Summarize this conversation. You will continue it with your summary in place of all messages before this one.',
    'Keep what the user wants and requires, decisions and their reasons, facts, names of files, commands and what they returned, what is done, and what',
    'remains to do. Reply with the summary only.',
  ].join(' '),
})

/** Turns the response with the summary into the compacted conversation. There is no partial one. */
const compacting = (assembly: Assembly, messages: readonly Json[], seal: (summary: string) => string): Assembly => ({
  push: (event) => assembly.push(event),
  get complete() {
    return assembly.complete
  },
  get usage() {
    return assembly.usage
  },
  result() {
    const { id, created_at, output, usage } = JSON.parse(assembly.result())
    const summary = textsIn(output).join('\n\n')
    if (summary.trim() === '') throw new UpstreamInvalidError('the model has written no summary')
    const item = { id: newGatewayId('cmp_'), type: 'compaction', encrypted_content: seal(summary) }
    return composeJson([
      `{"id":${JSON.stringify(id)},"object":"response.compaction","created_at":${JSON.stringify(created_at)},"output":`,
      composeArray([...messages, toJson(item)]),
      `,"usage":${JSON.stringify(usage ?? null)}}`,
    ]).raw
  },
  partial() {
    throw upstreamUnavailable(new Error('time limit exceeded'), true)
  },
})

/** The texts of the messages in the output of a response. */
const textsIn = (output: readonly unknown[]): readonly string[] =>
  output.flatMap((item) => {
    const content = asJsonObject(item)?.content
    return Array.isArray(content) && asJsonObject(item)?.type === 'message'
      ? content.flatMap((part) =>
          typeof asJsonObject(part)?.text === 'string' ? [asJsonObject(part)?.text as string] : [],
        )
      : []
  })
