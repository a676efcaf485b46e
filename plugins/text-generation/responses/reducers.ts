import { type OutputItems, type PartList, partOf, putPart } from './items.ts'
import { append, arrayIn, isMutableObject, type MutableObject, readPosition } from './mutable-json.ts'

/** State of the assembly of a response. */
export interface ResponseState {
  readonly items: OutputItems
  /** The upstream's latest response object, without its output. */
  response: MutableObject | undefined
  /** The final status, and the response of the final event. */
  end: { readonly status: string; readonly response: MutableObject } | undefined
}

/** Applies an event to the state. */
export type Reducer = (event: MutableObject, state: ResponseState) => void

/** `response.created` and other events with the response so far. */
export const updateResponse: Reducer = ({ response }, state) => {
  if (!isMutableObject(response)) return
  // `output_text` would be out of date at the end. Client libraries derive it from the output.
  const { output, output_text: _, ...rest } = response
  state.response = { ...state.response, ...rest }
  state.items.addMissing(output)
}

/** A final event. */
export const endResponse =
  (status: string): Reducer =>
  ({ response }, state) => {
    state.end = { status, response: isMutableObject(response) ? response : {} }
  }

/** A delta of a text member of an item. */
export const appendMember =
  (type: string, member: string): Reducer =>
  (event, { items }) =>
    append(items.itemOf(event, type), member, event.delta)

/** The final value of members of an item. It replaces what the deltas have built. */
export const setMembers =
  (type: string, ...members: readonly string[]): Reducer =>
  (event, { items }) => {
    const item = items.itemOf(event, type)
    for (const member of members) if (typeof event[member] === 'string') item[member] = event[member]
  }

export const setStatus =
  (type: string, status: string): Reducer =>
  (event, { items }) => {
    items.itemOf(event, type).status = status
  }

interface PartKind {
  readonly item: string
  readonly list: PartList
  /** The member with the text. */
  readonly member: string
  readonly create: () => MutableObject
}

export const outputText: PartKind = {
  item: 'message',
  list: 'content',
  member: 'text',
  create: () => ({ type: 'output_text', text: '', annotations: [], logprobs: [] }),
}
export const refusal: PartKind = {
  item: 'message',
  list: 'content',
  member: 'refusal',
  create: () => ({ type: 'refusal', refusal: '' }),
}
export const reasoningText: PartKind = {
  item: 'reasoning',
  list: 'content',
  member: 'text',
  create: () => ({ type: 'reasoning_text', text: '' }),
}
export const summaryText: PartKind = {
  item: 'reasoning',
  list: 'summary',
  member: 'text',
  create: () => ({ type: 'summary_text', text: '' }),
}

const find = (event: MutableObject, { items }: ResponseState, kind: PartKind): MutableObject =>
  partOf(event, items.itemOf(event, kind.item), kind.list, kind.create)

/** A delta of the text of a part. */
export const appendPartText =
  (kind: PartKind): Reducer =>
  (event, state) => {
    const part = find(event, state, kind)
    append(part, kind.member, event.delta)
    if (Array.isArray(event.logprobs)) for (const logprob of event.logprobs) arrayIn(part, 'logprobs').push(logprob)
  }

/** The final text of a part. */
export const setPartText =
  (kind: PartKind): Reducer =>
  (event, state) => {
    const part = find(event, state, kind)
    if (typeof event[kind.member] === 'string') part[kind.member] = event[kind.member]
    // The API requires `logprobs` in this event, so that an empty array does not mean that there were none.
    if (Array.isArray(event.logprobs) && event.logprobs.length > 0) part.logprobs = event.logprobs
  }

export const setPart =
  (finished: boolean): Reducer =>
  (event, { items }) => {
    const isReasoning = isMutableObject(event.part) && event.part.type === 'reasoning_text'
    putPart(event, items.itemOf(event, isReasoning ? 'reasoning' : 'message'), 'content', finished)
  }

export const setSummaryPart =
  (finished: boolean): Reducer =>
  (event, { items }) =>
    putPart(event, items.itemOf(event, 'reasoning'), 'summary', finished)

export const addAnnotation: Reducer = (event, state) => {
  if (event.annotation === undefined || event.annotation === null) return
  const annotations = arrayIn(find(event, state, outputText), 'annotations')
  const position = event.annotation_index
  const exists = typeof position === 'number' && position in annotations
  if (exists) annotations[position] = event.annotation
  else annotations.push(event.annotation)
}

/** The commands of a shell call, filled up to the event's index, and that index. */
const commandsFor = (event: MutableObject, { items }: ResponseState): [commands: unknown[], position: number] => {
  const item = items.itemOf(event, 'shell_call')
  if (!isMutableObject(item.action)) item.action = { commands: [] }
  const commands = arrayIn(item.action as MutableObject, 'commands')
  const position = readPosition(event, 'command_index') ?? Math.max(0, commands.length - 1)
  while (commands.length <= position) commands.push('')
  return [commands, position]
}

export const setCommand: Reducer = (event, state) => {
  const [commands, position] = commandsFor(event, state)
  if (typeof event.command === 'string') commands[position] = event.command
}

export const appendCommand: Reducer = (event, state) => {
  const [commands, position] = commandsFor(event, state)
  if (typeof event.delta === 'string') commands[position] = `${commands[position]}${event.delta}`
}

/** The outputs of a shell call's commands, filled up to the event's index, and that index. */
const outputsFor = (event: MutableObject, { items }: ResponseState): [outputs: unknown[], position: number] => {
  const outputs = arrayIn(items.itemOf(event, 'shell_call_output'), 'output')
  const position = readPosition(event, 'command_index') ?? Math.max(0, outputs.length - 1)
  while (outputs.length <= position) {
    outputs.push({ stdout: '', stderr: '', outcome: { type: 'exit', exit_code: 0 } })
  }
  return [outputs, position]
}

export const appendShellOutput: Reducer = (event, state) => {
  const [outputs, position] = outputsFor(event, state)
  const output = outputs[position]
  if (!isMutableObject(event.delta) || !isMutableObject(output)) return
  append(output, 'stdout', event.delta.stdout)
  append(output, 'stderr', event.delta.stderr)
}

export const setShellOutput: Reducer = (event, state) => {
  const [outputs, position] = outputsFor(event, state)
  // The API sends an array, although the event is about one command.
  const output = Array.isArray(event.output) ? event.output[0] : undefined
  if (isMutableObject(output)) outputs[position] = output
}

/** An event without effect on the response. */
export const ignore: Reducer = () => {}
