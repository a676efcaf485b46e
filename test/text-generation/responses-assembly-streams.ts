import { createFrameSplitter, type SseEvent } from '../../plugins/sse-relay/index.ts'
import {
  createResponsesAssembly,
  type ResponsesAssembly,
  type ResponsesAssemblyOptions,
} from '../../plugins/text-generation/responses/assembly.ts'

export type Members = Record<string, unknown>

/** An event of the protocol. The sequence number is added when it is sent. */
export interface Event extends Members {
  readonly type: string
}

/** Splits a text into deltas. */
export type Split = (text: string) => readonly string[]

/** Splits after each word. */
export const words: Split = (text) => text.match(/\S+\s*|\s+/g) ?? []

export interface StreamOptions {
  readonly split?: Split
  /** The terminal event has no output. */
  readonly withoutOutput?: boolean
}

/** All events of an upstream for a response. */
export const eventsOf = (response: Members, options: StreamOptions = {}): readonly Event[] => {
  const { split = words, withoutOutput = false } = options
  const output = response.output as readonly Members[]
  const begun = { ...response, ...beginning }
  return [
    { type: 'response.created', response: begun },
    { type: 'response.in_progress', response: begun },
    ...output.flatMap((item, output_index) => itemEvents(item, output_index, split)),
    { type: `response.${response.status}`, response: withoutOutput ? { ...response, output: [] } : response },
  ]
}

const beginning = {
  status: 'in_progress',
  output: [],
  usage: null,
  error: null,
  incomplete_details: null,
  completed_at: null,
}

const itemEvents = (item: Members, output_index: number, split: Split): readonly Event[] => {
  const place = { item_id: item.id, output_index }
  const tell = narrators[String(item.type)]
  const { begun = {}, events = [] } = tell ? tell(item, place, split) : {}
  const status = 'status' in item ? { status: 'in_progress' } : {}
  return [
    { type: 'response.output_item.added', output_index, item: { ...item, ...status, ...begun } },
    ...events,
    { type: 'response.output_item.done', output_index, item },
  ]
}

interface Telling {
  /** The item of `response.output_item.added`. */
  readonly begun?: Members
  readonly events?: readonly Event[]
}

type Narrator = (item: Members, place: Members, split: Split) => Telling

const list = (value: unknown): readonly Members[] => (Array.isArray(value) ? value : [])

const steps = (prefix: string, place: Members, ...names: readonly string[]): readonly Event[] =>
  names.map((name) => ({ type: `${prefix}.${name}`, ...place }))

const deltas = (type: string, place: Members, text: unknown, split: Split, more: Members = {}): readonly Event[] =>
  split(String(text)).map((delta) => ({ type: `${type}.delta`, ...place, delta, ...more }))

const partEvents = (part: Members, place: Members, split: Split): readonly Event[] => {
  if (part.type === 'refusal') {
    return [
      { type: 'response.content_part.added', ...place, part: { ...part, refusal: '' } },
      ...deltas('response.refusal', place, part.refusal, split),
      { type: 'response.refusal.done', ...place, refusal: part.refusal },
      { type: 'response.content_part.done', ...place, part },
    ]
  }
  if (part.type === 'reasoning_text') {
    return [
      { type: 'response.content_part.added', ...place, part: { ...part, text: '' } },
      ...deltas('response.reasoning_text', place, part.text, split),
      { type: 'response.reasoning_text.done', ...place, text: part.text },
      { type: 'response.content_part.done', ...place, part },
    ]
  }
  const logprobs = list(part.logprobs)
  const texts = deltas('response.output_text', place, part.text, split, { logprobs: [] })
  const empty = { ...part, text: '', annotations: [], ...('logprobs' in part && { logprobs: [] }) }
  return [
    { type: 'response.content_part.added', ...place, part: empty },
    ...texts.map((event, at) => (at === 0 ? { ...event, logprobs } : event)),
    ...list(part.annotations).map((annotation, annotation_index) => ({
      type: 'response.output_text.annotation.added',
      ...place,
      annotation_index,
      annotation,
    })),
    { type: 'response.output_text.done', ...place, text: part.text, logprobs },
    { type: 'response.content_part.done', ...place, part },
  ]
}

const contentEvents = (item: Members, place: Members, split: Split): readonly Event[] =>
  list(item.content).flatMap((part, content_index) => partEvents(part, { ...place, content_index }, split))

const narrators: Readonly<Partial<Record<string, Narrator>>> = {
  message: (item, place, split) => ({ begun: { content: [] }, events: contentEvents(item, place, split) }),
  reasoning: (item, place, split) => ({
    begun: { summary: [], ...('content' in item && { content: [] }) },
    events: [
      ...contentEvents(item, place, split),
      ...list(item.summary).flatMap((part, summary_index): readonly Event[] => {
        const at = { ...place, summary_index }
        return [
          { type: 'response.reasoning_summary_part.added', ...at, part: { ...part, text: '' } },
          ...deltas('response.reasoning_summary_text', at, part.text, split),
          { type: 'response.reasoning_summary_text.done', ...at, text: part.text },
          { type: 'response.reasoning_summary_part.done', ...at, part },
        ]
      }),
    ],
  }),
  function_call: (item, place, split) => ({
    begun: { arguments: '' },
    events: [
      ...deltas('response.function_call_arguments', place, item.arguments, split),
      { type: 'response.function_call_arguments.done', ...place, arguments: item.arguments },
    ],
  }),
  custom_tool_call: (item, place, split) => ({
    begun: { input: '' },
    events: [
      ...deltas('response.custom_tool_call_input', place, item.input, split),
      { type: 'response.custom_tool_call_input.done', ...place, input: item.input },
    ],
  }),
  mcp_call: (item, place, split) => ({
    begun: { arguments: '', output: null, error: null },
    events: [
      ...steps('response.mcp_call', place, 'in_progress'),
      ...deltas('response.mcp_call_arguments', place, item.arguments, split),
      { type: 'response.mcp_call_arguments.done', ...place, arguments: item.arguments },
      ...steps('response.mcp_call', place, item.status === 'failed' ? 'failed' : 'completed'),
    ],
  }),
  mcp_list_tools: (item, place) => ({
    begun: { tools: [] },
    events: steps('response.mcp_list_tools', place, 'in_progress', item.error ? 'failed' : 'completed'),
  }),
  web_search_call: (_, place) => ({
    events: steps('response.web_search_call', place, 'in_progress', 'searching', 'completed'),
  }),
  file_search_call: (_, place) => ({
    begun: { results: null },
    events: steps('response.file_search_call', place, 'in_progress', 'searching', 'completed'),
  }),
  code_interpreter_call: (item, place, split) => ({
    begun: { code: '', outputs: null },
    events: [
      ...steps('response.code_interpreter_call', place, 'in_progress'),
      ...deltas('response.code_interpreter_call_code', place, item.code, split),
      { type: 'response.code_interpreter_call_code.done', ...place, code: item.code },
      ...steps('response.code_interpreter_call', place, 'interpreting', 'completed'),
    ],
  }),
  image_generation_call: (_, place) => ({
    begun: { result: null },
    events: [
      ...steps('response.image_generation_call', place, 'in_progress', 'generating'),
      {
        type: 'response.image_generation_call.partial_image',
        ...place,
        partial_image_index: 0,
        partial_image_b64: 'aGFsZg==',
      },
      ...steps('response.image_generation_call', place, 'completed'),
    ],
  }),
  shell_call: (item, place, split) => {
    const action = item.action as Members
    const { item_id: _, ...at } = place
    return {
      begun: { action: { ...action, commands: [] } },
      events: (action.commands as readonly string[]).flatMap((command, command_index): readonly Event[] => [
        { type: 'response.shell_call_command.added', ...at, command_index, command: '' },
        ...deltas('response.shell_call_command', { ...at, command_index }, command, split),
        { type: 'response.shell_call_command.done', ...at, command_index, command },
      ]),
    }
  },
  shell_call_output: (item, place, split) => ({
    begun: { output: [] },
    events: list(item.output).flatMap((output, command_index): readonly Event[] => {
      const at = { ...place, command_index }
      const type = 'response.shell_call_output_content'
      return [
        ...split(String(output.stdout)).map((stdout) => ({ type: `${type}.delta`, ...at, delta: { stdout } })),
        ...split(String(output.stderr)).map((stderr) => ({ type: `${type}.delta`, ...at, delta: { stderr } })),
        { type: `${type}.done`, ...at, output: [output] },
      ]
    }),
  }),
  compaction: (_, place) => ({ events: steps('response.compaction', place, 'compacting') }),
}

const encoder = new TextEncoder()

/** One event on the wire. Adds a sequence number unless the event has the member, also as undefined. */
export const written = (event: Event, number: number): string =>
  `event: ${event.type}\ndata: ${JSON.stringify({ sequence_number: number, ...event })}\n\n`

/** A whole stream on the wire. */
export const wire = (events: readonly Event[], end = ''): string => events.map(written).join('') + end

/** The events of a text or of its chunks. */
export const read = (text: string | readonly Uint8Array[]): readonly SseEvent[] => {
  const frames = createFrameSplitter()
  const chunks = typeof text === 'string' ? [encoder.encode(text)] : text
  const all = chunks.flatMap((chunk) => frames.push(chunk))
  return [...all, frames.end()].flatMap((frame) => (frame?.event ? [frame.event] : []))
}

/** An assembly with these events. */
export const assembled = (
  events: readonly SseEvent[],
  options: Partial<ResponsesAssemblyOptions> = {},
): ResponsesAssembly => {
  let ids = 0
  const assembly = createResponsesAssembly({
    request: { model: 'm-1', input: 'hello' },
    clock: { now: () => 1_700_000_000_500 },
    newId: () => `made_${++ids}`,
    ...options,
  })
  for (const event of events) assembly.push(event)
  return assembly
}

/** The assembled response. */
export const resultOf = (text: string): unknown => JSON.parse(assembled(read(text)).result())
