type Members = Readonly<Record<string, unknown>>

/** A whole response as the stream that it would have been: text of a whole event stream, without `[DONE]`. */
export const replayResponse = (answer: unknown): string => {
  const response = membersOf(answer)
  const events: readonly Members[] = [
    { type: 'response.created', response: begun(response) },
    { type: 'response.in_progress', response: begun(response) },
    ...list(response.output).flatMap((item, index) => itemEvents(membersOf(item), index)),
    { type: `response.${terminal(response.status)}`, response },
  ]
  return events
    .map((event, number) => `event: ${event.type}\ndata: ${JSON.stringify({ ...event, sequence_number: number })}\n\n`)
    .join('')
}

const begun = (response: Members): Members => ({
  ...response,
  status: 'in_progress',
  output: [],
  usage: null,
  error: null,
  incomplete_details: null,
})

const terminal = (status: unknown): string => (status === 'incomplete' || status === 'failed' ? status : 'completed')

const itemEvents = (item: Members, index: number): readonly Members[] => {
  const place = { output_index: index, item_id: item.id }
  const argumentsOf = item.type === 'function_call' ? item.arguments : undefined
  const emptied = {
    ...item,
    ...(item.status !== undefined && { status: 'in_progress' }),
    ...(item.content !== undefined && { content: [] }),
    ...(argumentsOf !== undefined && { arguments: '' }),
  }
  return [
    { type: 'response.output_item.added', output_index: index, item: emptied },
    ...list(item.content).flatMap((part, at) => partEvents(membersOf(part), { ...place, content_index: at })),
    ...(argumentsOf === undefined
      ? []
      : [
          { type: 'response.function_call_arguments.delta', ...place, delta: argumentsOf },
          { type: 'response.function_call_arguments.done', ...place, name: item.name, arguments: argumentsOf },
        ]),
    { type: 'response.output_item.done', output_index: index, item },
  ]
}

/** Parts whose text comes in deltas: the member that holds it. Their events are named after the part. */
const textual: Readonly<Partial<Record<string, string>>> = {
  output_text: 'text',
  refusal: 'refusal',
  reasoning_text: 'text',
}

const partEvents = (part: Members, place: Members): readonly Members[] => {
  const kind = String(part.type)
  const member = textual[kind]
  if (member === undefined) {
    return [
      { type: 'response.content_part.added', ...place, part },
      { type: 'response.content_part.done', ...place, part },
    ]
  }
  const more = kind === 'output_text' ? { logprobs: part.logprobs ?? [] } : {}
  const emptied = { ...part, [member]: '', ...(part.annotations !== undefined && { annotations: [] }) }
  return [
    { type: 'response.content_part.added', ...place, part: emptied },
    { type: `response.${kind}.delta`, ...place, delta: part[member], ...more },
    { type: `response.${kind}.done`, ...place, [member]: part[member], ...more },
    { type: 'response.content_part.done', ...place, part },
  ]
}

const membersOf = (value: unknown): Members => (typeof value === 'object' && value !== null ? (value as Members) : {})
const list = (value: unknown): readonly unknown[] => (Array.isArray(value) ? value : [])
