import { isMutableObject, type MutableObject } from './mutable-json.ts'

/**
 * A response that nothing has been generated for: what the request said of it, and otherwise the API's defaults. All members that strict clients require are
 * there.
 *
 * @param created when, in milliseconds since 1970
 */
export const emptyResponse = (request: unknown, id: string, created: number): MutableObject => {
  const asked = isMutableObject(request) ? request : {}
  return {
    id,
    object: 'response',
    created_at: Math.floor(created / 1000),
    status: 'in_progress',
    background: false,
    completed_at: null,
    error: null,
    incomplete_details: null,
    instructions: asked.instructions ?? null,
    max_output_tokens: asked.max_output_tokens ?? null,
    max_tool_calls: asked.max_tool_calls ?? null,
    metadata: asked.metadata ?? {},
    model: typeof asked.model === 'string' ? asked.model : '',
    output: [],
    parallel_tool_calls: asked.parallel_tool_calls ?? true,
    previous_response_id: asked.previous_response_id ?? null,
    reasoning: { effort: null, summary: null, ...(isMutableObject(asked.reasoning) ? asked.reasoning : {}) },
    service_tier: asked.service_tier ?? 'default',
    store: asked.store ?? true,
    temperature: asked.temperature ?? 1,
    text: { format: { type: 'text' }, ...(isMutableObject(asked.text) ? asked.text : {}) },
    tool_choice: asked.tool_choice ?? 'auto',
    tools: asked.tools ?? [],
    top_logprobs: asked.top_logprobs ?? 0,
    top_p: asked.top_p ?? 1,
    truncation: asked.truncation ?? 'disabled',
    usage: null,
    user: asked.user ?? null,
  }
}
