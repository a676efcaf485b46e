import { type Items, type PartList, partOf, placePart } from './items.ts'
import { append, isMutableObject, listIn, type MutableObject, positionIn } from './mutable-json.ts'

/** An answer while events put it together. */
export interface ResponseState {
  readonly items: Items
  /** As the upstream last described the response, apart from its output. */
  response: MutableObject | undefined
  /** Status that the upstream has ended with, and the response that it ended with. */
  end: { readonly status: string; readonly response: MutableObject } | undefined
}

/** What an event does to an answer. */
export type Reducer = (event: MutableObject, answer: ResponseState) => void

/** `response.created` and its like: the response so far. */
export const describe: Reducer = ({ response }, answer) => {
  if (!isMutableObject(response)) return
  // The text of an output to come would be a wrong one: it is what clients make of the output themselves.
  const { output, output_text: _, ...described } = response
  answer.response = { ...answer.response, ...described }
  answer.items.adopt(output)
}

export const end =
  (status: string): Reducer =>
  ({ response }, answer) => {
    answer.end = { status, response: isMutableObject(response) ? response : {} }
  }

/** A member of an item grows. */
export const grow =
  (type: string, member: string): Reducer =>
  (event, { items }) =>
    append(items.of(event, type), member, event.delta)

/** A member of an item is said in full, which settles it whatever the deltas were. */
export const settle =
  (type: string, ...members: readonly string[]): Reducer =>
  (event, { items }) => {
    const item = items.of(event, type)
    for (const member of members) if (typeof event[member] === 'string') item[member] = event[member]
  }

export const setStatus =
  (type: string, status: string): Reducer =>
  (event, { items }) => {
    items.of(event, type).status = status
  }

interface PartKind {
  readonly item: string
  readonly list: PartList
  /** Where its text is. */
  readonly member: string
  readonly madeUp: () => MutableObject
}

export const outputText: PartKind = {
  item: 'message',
  list: 'content',
  member: 'text',
  madeUp: () => ({ type: 'output_text', text: '', annotations: [], logprobs: [] }),
}
export const refusal: PartKind = {
  item: 'message',
  list: 'content',
  member: 'refusal',
  madeUp: () => ({ type: 'refusal', refusal: '' }),
}
export const reasoningText: PartKind = {
  item: 'reasoning',
  list: 'content',
  member: 'text',
  madeUp: () => ({ type: 'reasoning_text', text: '' }),
}
export const summaryText: PartKind = {
  item: 'reasoning',
  list: 'summary',
  member: 'text',
  madeUp: () => ({ type: 'summary_text', text: '' }),
}

const find = (event: MutableObject, { items }: ResponseState, kind: PartKind): MutableObject =>
  partOf(event, items.of(event, kind.item), kind.list, kind.madeUp)

export const growPart =
  (kind: PartKind): Reducer =>
  (event, answer) => {
    const part = find(event, answer, kind)
    append(part, kind.member, event.delta)
    if (Array.isArray(event.logprobs)) for (const logprob of event.logprobs) listIn(part, 'logprobs').push(logprob)
  }

export const settlePart =
  (kind: PartKind): Reducer =>
  (event, answer) => {
    const part = find(event, answer, kind)
    if (typeof event[kind.member] === 'string') part[kind.member] = event[kind.member]
    // The list is required here, so an empty one does not say that there were none.
    if (Array.isArray(event.logprobs) && event.logprobs.length > 0) part.logprobs = event.logprobs
  }

export const place =
  (finished: boolean): Reducer =>
  (event, { items }) => {
    const inReasoning = isMutableObject(event.part) && event.part.type === 'reasoning_text'
    placePart(event, items.of(event, inReasoning ? 'reasoning' : 'message'), 'content', finished)
  }

export const placeSummary =
  (finished: boolean): Reducer =>
  (event, { items }) =>
    placePart(event, items.of(event, 'reasoning'), 'summary', finished)

export const annotate: Reducer = (event, answer) => {
  if (event.annotation === undefined || event.annotation === null) return
  const annotations = listIn(find(event, answer, outputText), 'annotations')
  const position = event.annotation_index
  const isThere = typeof position === 'number' && position in annotations
  if (isThere) annotations[position] = event.annotation
  else annotations.push(event.annotation)
}

/** The commands of a call, at least as many as the event needs, and the one that it is about. */
const commandsFor = (event: MutableObject, { items }: ResponseState): [commands: unknown[], position: number] => {
  const item = items.of(event, 'shell_call')
  if (!isMutableObject(item.action)) item.action = { commands: [] }
  const commands = listIn(item.action as MutableObject, 'commands')
  const position = positionIn(event, 'command_index') ?? Math.max(0, commands.length - 1)
  while (commands.length <= position) commands.push('')
  return [commands, position]
}

export const setCommand: Reducer = (event, answer) => {
  const [commands, position] = commandsFor(event, answer)
  if (typeof event.command === 'string') commands[position] = event.command
}

export const growCommand: Reducer = (event, answer) => {
  const [commands, position] = commandsFor(event, answer)
  if (typeof event.delta === 'string') commands[position] = `${commands[position]}${event.delta}`
}

/** What the commands have written, at least as many as the event needs, and the one that it is about. */
const outputsFor = (event: MutableObject, { items }: ResponseState): [outputs: unknown[], position: number] => {
  const outputs = listIn(items.of(event, 'shell_call_output'), 'output')
  const position = positionIn(event, 'command_index') ?? Math.max(0, outputs.length - 1)
  while (outputs.length <= position) {
    outputs.push({ stdout: '', stderr: '', outcome: { type: 'exit', exit_code: 0 } })
  }
  return [outputs, position]
}

export const growShellOutput: Reducer = (event, answer) => {
  const [outputs, position] = outputsFor(event, answer)
  const output = outputs[position]
  if (!isMutableObject(event.delta) || !isMutableObject(output)) return
  append(output, 'stdout', event.delta.stdout)
  append(output, 'stderr', event.delta.stderr)
}

export const setShellOutput: Reducer = (event, answer) => {
  const [outputs, position] = outputsFor(event, answer)
  // A list, although the event is about one command.
  const said = Array.isArray(event.output) ? event.output[0] : undefined
  if (isMutableObject(said)) outputs[position] = said
}

/** Says nothing that an answer has a place for. */
export const nothing: Reducer = () => {}
