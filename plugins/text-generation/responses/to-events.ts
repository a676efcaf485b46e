import { membersOf } from '../../shared/json/parsed.ts'

type Members = Readonly<Record<string, unknown>>

/** The event stream that the upstream would have sent for a whole response, without `[DONE]`. */
export const toResponseEvents = (value: unknown): string => {
  const response = membersOf(value)
  const events: readonly Members[] = [
    { type: 'response.created', response: inProgress(response) },
    { type: 'response.in_progress', response: inProgress(response) },
    ...list(response.output).flatMap((item, index) => itemEvents(membersOf(item), index)),
    { type: `response.${finalStatus(response.status)}`, response },
  ]
  return events
    .map((event, number) => `event: ${event.type}\ndata: ${JSON.stringify({ ...event, sequence_number: number })}\n\n`)
    .join('')
}

const inProgress = (response: Members): Members => ({
  ...response,
  status: 'in_progress',
  output: [],
  usage: null,
  error: null,
  incomplete_details: null,
})

const finalStatus = (status: unknown): string => (status === 'incomplete' || status === 'failed' ? status : 'completed')

const itemEvents = (item: Members, index: number): readonly Members[] => {
  const position = { output_index: index, item_id: item.id }
  const callArguments = item.type === 'function_call' ? item.arguments : undefined
  const empty = {
    ...item,
    ...(item.status !== undefined && { status: 'in_progress' }),
    ...(item.content !== undefined && { content: [] }),
    ...(callArguments !== undefined && { arguments: '' }),
  }
  return [
    { type: 'response.output_item.added', output_index: index, item: empty },
    ...list(item.content).flatMap((part, contentIndex) =>
      partEvents(membersOf(part), { ...position, content_index: contentIndex }),
    ),
    ...(callArguments === undefined
      ? []
      : [
          { type: 'response.function_call_arguments.delta', ...position, delta: callArguments },
          { type: 'response.function_call_arguments.done', ...position, name: item.name, arguments: callArguments },
        ]),
    { type: 'response.output_item.done', output_index: index, item },
  ]
}

/** The text member of each part type that comes in deltas. The events have the type of the part in their names. */
const textMembers: Readonly<Partial<Record<string, string>>> = {
  output_text: 'text',
  refusal: 'refusal',
  reasoning_text: 'text',
}

const partEvents = (part: Members, position: Members): readonly Members[] => {
  const type = String(part.type)
  const member = textMembers[type]
  if (member === undefined) {
    return [
      { type: 'response.content_part.added', ...position, part },
      { type: 'response.content_part.done', ...position, part },
    ]
  }
  const logprobs = type === 'output_text' ? { logprobs: part.logprobs ?? [] } : {}
  const empty = { ...part, [member]: '', ...(part.annotations !== undefined && { annotations: [] }) }
  return [
    { type: 'response.content_part.added', ...position, part: empty },
    { type: `response.${type}.delta`, ...position, delta: part[member], ...logprobs },
    { type: `response.${type}.done`, ...position, [member]: part[member], ...logprobs },
    { type: 'response.content_part.done', ...position, part },
  ]
}

const list = (value: unknown): readonly unknown[] => (Array.isArray(value) ? value : [])
