import {
  addAnnotation,
  appendCommand,
  appendMember,
  appendPartText,
  appendShellOutput,
  endResponse,
  ignore,
  outputText,
  type Reducer,
  reasoningText,
  refusal,
  setCommand,
  setMembers,
  setPart,
  setPartText,
  setShellOutput,
  setStatus,
  setSummaryPart,
  summaryText,
  updateResponse,
} from './reducers.ts'

/** The final events of a stream, and the status of the response after each. */
export const finalStatuses: ReadonlyMap<string, string> = new Map([
  ['response.completed', 'completed'],
  ['response.failed', 'failed'],
  ['response.incomplete', 'incomplete'],
])

/**
 * The reducer of each event type. The assembly ignores types that are not in it.
 *
 * A test compares the list with the types of OpenAI's client, so types that are ignored on purpose are in it too.
 */
export const reducers: ReadonlyMap<string, Reducer> = new Map<string, Reducer>([
  ['response.created', updateResponse],
  ['response.queued', updateResponse],
  ['response.in_progress', updateResponse],
  ...[...finalStatuses].map(([type, status]): [string, Reducer] => [type, endResponse(status)]),

  ['response.output_item.added', (event, { items }) => items.add(event)],
  ['response.output_item.done', (event, { items }) => items.finish(event)],
  ['response.content_part.added', setPart(false)],
  ['response.content_part.done', setPart(true)],

  ['response.output_text.delta', appendPartText(outputText)],
  ['response.output_text.done', setPartText(outputText)],
  ['response.output_text.annotation.added', addAnnotation],
  ['response.refusal.delta', appendPartText(refusal)],
  ['response.refusal.done', setPartText(refusal)],

  ['response.reasoning_text.delta', appendPartText(reasoningText)],
  ['response.reasoning_text.done', setPartText(reasoningText)],
  ['response.reasoning_summary_part.added', setSummaryPart(false)],
  ['response.reasoning_summary_part.done', setSummaryPart(true)],
  ['response.reasoning_summary_text.delta', appendPartText(summaryText)],
  ['response.reasoning_summary_text.done', setPartText(summaryText)],

  ['response.function_call_arguments.delta', appendMember('function_call', 'arguments')],
  ['response.function_call_arguments.done', setMembers('function_call', 'arguments', 'name')],
  ['response.custom_tool_call_input.delta', appendMember('custom_tool_call', 'input')],
  ['response.custom_tool_call_input.done', setMembers('custom_tool_call', 'input')],
  ['response.mcp_call_arguments.delta', appendMember('mcp_call', 'arguments')],
  ['response.mcp_call_arguments.done', setMembers('mcp_call', 'arguments')],
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
  ['response.code_interpreter_call_code.delta', appendMember('code_interpreter_call', 'code')],
  ['response.code_interpreter_call_code.done', setMembers('code_interpreter_call', 'code')],
  ['response.image_generation_call.in_progress', setStatus('image_generation_call', 'in_progress')],
  ['response.image_generation_call.generating', setStatus('image_generation_call', 'generating')],
  ['response.image_generation_call.completed', setStatus('image_generation_call', 'completed')],

  ['response.shell_call_command.added', setCommand],
  ['response.shell_call_command.delta', appendCommand],
  ['response.shell_call_command.done', setCommand],
  ['response.shell_call_output_content.delta', appendShellOutput],
  ['response.shell_call_output_content.done', setShellOutput],

  // Previews. The finished item has the whole image.
  ['response.image_generation_call.partial_image', ignore],
  // Items of these types have no status.
  ['response.mcp_list_tools.in_progress', ignore],
  ['response.mcp_list_tools.completed', ignore],
  ['response.mcp_list_tools.failed', ignore],
  ['response.compaction.compacting', ignore],
  // A response has no member for audio.
  ['response.audio.delta', ignore],
  ['response.audio.done', ignore],
  ['response.audio.transcript.delta', ignore],
  ['response.audio.transcript.done', ignore],
  ['keepalive', ignore],
  // The assembly throws StreamError for it earlier.
  ['error', ignore],
])
