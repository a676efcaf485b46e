import {
  annotate,
  describe,
  end,
  grow,
  growCommand,
  growPart,
  growShellOutput,
  nothing,
  outputText,
  place,
  placeSummary,
  type Reducer,
  reasoningText,
  refusal,
  setCommand,
  setShellOutput,
  setStatus,
  settle,
  settlePart,
  summaryText,
} from './reducers.ts'

/** The events that end a stream, and what they say of the response. */
export const endings: ReadonlyMap<string, string> = new Map([
  ['response.completed', 'completed'],
  ['response.failed', 'failed'],
  ['response.incomplete', 'incomplete'],
])

/**
 * What each event of the protocol does, by its type. An event that is not in it does nothing either, but is not known to do so: the list is held against the
 * official client's.
 */
export const reducers: ReadonlyMap<string, Reducer> = new Map<string, Reducer>([
  ['response.created', describe],
  ['response.queued', describe],
  ['response.in_progress', describe],
  ...[...endings].map(([type, status]): [string, Reducer] => [type, end(status)]),

  ['response.output_item.added', (event, { items }) => items.announce(event)],
  ['response.output_item.done', (event, { items }) => items.finish(event)],
  ['response.content_part.added', place(false)],
  ['response.content_part.done', place(true)],

  ['response.output_text.delta', growPart(outputText)],
  ['response.output_text.done', settlePart(outputText)],
  ['response.output_text.annotation.added', annotate],
  ['response.refusal.delta', growPart(refusal)],
  ['response.refusal.done', settlePart(refusal)],

  ['response.reasoning_text.delta', growPart(reasoningText)],
  ['response.reasoning_text.done', settlePart(reasoningText)],
  ['response.reasoning_summary_part.added', placeSummary(false)],
  ['response.reasoning_summary_part.done', placeSummary(true)],
  ['response.reasoning_summary_text.delta', growPart(summaryText)],
  ['response.reasoning_summary_text.done', settlePart(summaryText)],

  ['response.function_call_arguments.delta', grow('function_call', 'arguments')],
  ['response.function_call_arguments.done', settle('function_call', 'arguments', 'name')],
  ['response.custom_tool_call_input.delta', grow('custom_tool_call', 'input')],
  ['response.custom_tool_call_input.done', settle('custom_tool_call', 'input')],
  ['response.mcp_call_arguments.delta', grow('mcp_call', 'arguments')],
  ['response.mcp_call_arguments.done', settle('mcp_call', 'arguments')],
  ['response.mcp_call.in_progress', setStatus('mcp_call', 'in_progress')],
  ['response.mcp_call.completed', setStatus('mcp_call', 'completed')],
  ['response.mcp_call.failed', setStatus('mcp_call', 'failed')],

  ['response.web_search_call.in_progress', setStatus('web_search_call', 'in_progress')],
  ['response.web_search_call.searching', setStatus('web_search_call', 'searching')],
  ['response.web_search_call.completed', setStatus('web_search_call', 'completed')],
  ['response.file_search_call.in_progress', setStatus('file_search_call', 'in_progress')],
  ['response.file_search_call.searching', setStatus('file_search_call', 'searching')],
  ['response.file_search_call.completed', setStatus('file_search_call', 'completed')],
  ['response.code_interpreter_call.in_progress', setStatus('code_interpreter_call', 'in_progress')],
  ['response.code_interpreter_call.interpreting', setStatus('code_interpreter_call', 'interpreting')],
  ['response.code_interpreter_call.completed', setStatus('code_interpreter_call', 'completed')],
  ['response.code_interpreter_call_code.delta', grow('code_interpreter_call', 'code')],
  ['response.code_interpreter_call_code.done', settle('code_interpreter_call', 'code')],
  ['response.image_generation_call.in_progress', setStatus('image_generation_call', 'in_progress')],
  ['response.image_generation_call.generating', setStatus('image_generation_call', 'generating')],
  ['response.image_generation_call.completed', setStatus('image_generation_call', 'completed')],

  ['response.shell_call_command.added', setCommand],
  ['response.shell_call_command.delta', growCommand],
  ['response.shell_call_command.done', setCommand],
  ['response.shell_call_output_content.delta', growShellOutput],
  ['response.shell_call_output_content.done', setShellOutput],

  // Previews of what the finished item has.
  ['response.image_generation_call.partial_image', nothing],
  // Items of these kinds have no status.
  ['response.mcp_list_tools.in_progress', nothing],
  ['response.mcp_list_tools.completed', nothing],
  ['response.mcp_list_tools.failed', nothing],
  ['response.compaction.compacting', nothing],
  // These belong to no item, and a response has no member for them.
  ['response.audio.delta', nothing],
  ['response.audio.done', nothing],
  ['response.audio.transcript.delta', nothing],
  ['response.audio.transcript.done', nothing],
  ['keepalive', nothing],
  // Never gets this far.
  ['error', nothing],
])
