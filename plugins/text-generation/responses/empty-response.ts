import { isMutableObject, type MutableObject } from './mutable-json.ts'

/**
 * A response without output: the fields of the request, and the API's defaults for the others. It has every member that strict clients require.
 *
 * @param createdAt milliseconds since 1970
 */
export const emptyResponse = (request: unknown, id: string, createdAt: number): MutableObject => {
  const fields = isMutableObject(request) ? request : {}
  return {
    id,
    object: 'response',
    created_at: Math.floor(createdAt / 1000),
    status: 'in_progress',
    background: false,
    completed_at: null,
    error: null,
    incomplete_details: null,
    instructions: fields.instructions ?? null,
    max_output_tokens: fields.max_output_tokens ?? null,
    max_tool_calls: fields.max_tool_calls ?? null,
    metadata: fields.metadata ?? {},
    model: typeof fields.model === 'string' ? fields.model : '',
    output: [],
    parallel_tool_calls: fields.parallel_tool_calls ?? true,
    previous_response_id: fields.previous_response_id ?? null,
    reasoning: { effort: null, summary: null, ...(isMutableObject(fields.reasoning) ? fields.reasoning : {}) },
    service_tier: fields.service_tier ?? 'default',
    store: fields.store ?? true,
    temperature: fields.temperature ?? 1,
    text: { format: { type: 'text' }, ...(isMutableObject(fields.text) ? fields.text : {}) },
    tool_choice: fields.tool_choice ?? 'auto',
    tools: fields.tools ?? [],
    top_logprobs: fields.top_logprobs ?? 0,
    top_p: fields.top_p ?? 1,
    truncation: fields.truncation ?? 'disabled',
    usage: null,
    user: fields.user ?? null,
  }
}
