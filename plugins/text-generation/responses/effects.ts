import { append, type Fields, isFields, listIn, positionIn } from './fields.ts'
import { type Items, type PartList, partOf, placePart } from './items.ts'

/** An answer while events put it together. */
export interface Answer {
  readonly items: Items
  /** As the upstream last described the response, apart from its output. */
  response: Fields | undefined
  /** Status that the upstream has ended with, and the response that it ended with. */
  end: { readonly status: string; readonly response: Fields } | undefined
}

/** What an event does to an answer. */
export type Effect = (event: Fields, answer: Answer) => void

/** `response.created` and its like: the response so far. */
export const describe: Effect = ({ response }, answer) => {
  if (!isFields(response)) return
  // The text of an output to come would be a wrong one: it is what clients make of the output themselves.
  const { output, output_text: _, ...described } = response
  answer.response = { ...answer.response, ...described }
  answer.items.adopt(output)
}

export const end =
  (status: string): Effect =>
  ({ response }, answer) => {
    answer.end = { status, response: isFields(response) ? response : {} }
  }

/** A member of an item grows. */
export const grow =
  (type: string, member: string): Effect =>
  (event, { items }) =>
    append(items.of(event, type), member, event.delta)

/** A member of an item is said in full, which settles it whatever the deltas were. */
export const settle =
  (type: string, ...members: readonly string[]): Effect =>
  (event, { items }) => {
    const item = items.of(event, type)
    for (const member of members) if (typeof event[member] === 'string') item[member] = event[member]
  }

export const setStatus =
  (type: string, status: string): Effect =>
  (event, { items }) => {
    items.of(event, type).status = status
  }

interface PartKind {
  readonly item: string
  readonly list: PartList
  /** Where its text is. */
  readonly member: string
  readonly madeUp: () => Fields
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

const find = (event: Fields, { items }: Answer, kind: PartKind): Fields =>
  partOf(event, items.of(event, kind.item), kind.list, kind.madeUp)

export const growPart =
  (kind: PartKind): Effect =>
  (event, answer) => {
    const part = find(event, answer, kind)
    append(part, kind.member, event.delta)
    if (Array.isArray(event.logprobs)) for (const logprob of event.logprobs) listIn(part, 'logprobs').push(logprob)
  }

export const settlePart =
  (kind: PartKind): Effect =>
  (event, answer) => {
    const part = find(event, answer, kind)
    if (typeof event[kind.member] === 'string') part[kind.member] = event[kind.member]
    // The list is required here, so an empty one does not say that there were none.
    if (Array.isArray(event.logprobs) && event.logprobs.length > 0) part.logprobs = event.logprobs
  }

export const place =
  (finished: boolean): Effect =>
  (event, { items }) => {
    const inReasoning = isFields(event.part) && event.part.type === 'reasoning_text'
    placePart(event, items.of(event, inReasoning ? 'reasoning' : 'message'), 'content', finished)
  }

export const placeSummary =
  (finished: boolean): Effect =>
  (event, { items }) =>
    placePart(event, items.of(event, 'reasoning'), 'summary', finished)

export const annotate: Effect = (event, answer) => {
  if (event.annotation === undefined || event.annotation === null) return
  const annotations = listIn(find(event, answer, outputText), 'annotations')
  const position = event.annotation_index
  const isThere = typeof position === 'number' && position in annotations
  if (isThere) annotations[position] = event.annotation
  else annotations.push(event.annotation)
}

/** The commands of a call, at least as many as the event needs, and the one that it is about. */
const commandsFor = (event: Fields, { items }: Answer): [commands: unknown[], position: number] => {
  const item = items.of(event, 'shell_call')
  if (!isFields(item.action)) item.action = { commands: [] }
  const commands = listIn(item.action as Fields, 'commands')
  const position = positionIn(event, 'command_index') ?? Math.max(0, commands.length - 1)
  while (commands.length <= position) commands.push('')
  return [commands, position]
}

export const setCommand: Effect = (event, answer) => {
  const [commands, position] = commandsFor(event, answer)
  if (typeof event.command === 'string') commands[position] = event.command
}

export const growCommand: Effect = (event, answer) => {
  const [commands, position] = commandsFor(event, answer)
  if (typeof event.delta === 'string') commands[position] = `${commands[position]}${event.delta}`
}

/** What the commands have written, at least as many as the event needs, and the one that it is about. */
const outputsFor = (event: Fields, { items }: Answer): [outputs: unknown[], position: number] => {
  const outputs = listIn(items.of(event, 'shell_call_output'), 'output')
  const position = positionIn(event, 'command_index') ?? Math.max(0, outputs.length - 1)
  while (outputs.length <= position) {
    outputs.push({ stdout: '', stderr: '', outcome: { type: 'exit', exit_code: 0 } })
  }
  return [outputs, position]
}

export const growShellOutput: Effect = (event, answer) => {
  const [outputs, position] = outputsFor(event, answer)
  const output = outputs[position]
  if (!isFields(event.delta) || !isFields(output)) return
  append(output, 'stdout', event.delta.stdout)
  append(output, 'stderr', event.delta.stderr)
}

export const setShellOutput: Effect = (event, answer) => {
  const [outputs, position] = outputsFor(event, answer)
  // A list, although the event is about one command.
  const said = Array.isArray(event.output) ? event.output[0] : undefined
  if (isFields(said)) outputs[position] = said
}

/** Says nothing that an answer has a place for. */
export const nothing: Effect = () => {}
