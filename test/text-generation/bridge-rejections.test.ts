import { describe, expect, test } from 'bun:test'
import { readJson } from '../../plugins/shared/json/json.ts'
import { TextProblem } from '../../plugins/text-generation/protocol/problem.ts'
import { toChatRequest } from './in-one-step.ts'

const problemOf = (request: object): TextProblem => {
  try {
    toChatRequest(readJson(JSON.stringify({ model: 'm', input: 'hi', ...request })), { hostedTools: 'reject' })
  } catch (error) {
    if (error instanceof TextProblem) return error
    throw error
  }
  throw new Error('nothing was refused')
}

const f = { type: 'function', name: 'f', parameters: {} }
const call = { type: 'function_call', call_id: 'c', name: 'f', arguments: '{}' }
const item = (it: unknown) => ({ input: [it] })
const part = (it: unknown) => item({ role: 'user', content: [{ type: 'input_text', text: 'x' }, it] })

describe('a parameter without equivalent in chat completions is rejected by name', () => {
  const rows: readonly (readonly [param: string, request: object])[] = [
    ['previous_response_id', { previous_response_id: 'resp_1' }],
    ['conversation', { conversation: 'conv_1' }],
    ['conversation', { conversation: { id: 'conv_1' } }],
    ['prompt', { prompt: { id: 'p' } }],
    ['background', { background: true }],
    ['context_management', { context_management: [{ type: 'compaction' }] }],
    ['access_programs', { access_programs: {} }],
    ['image', { image: {} }],
    ['include[1]', { include: ['reasoning.encrypted_content', 'x'] }],
    ['text.format.type', { text: { format: { type: 'grammar' } } }],
    ['text.tone', { text: { tone: 'dry' } }],
    ['reasoning.context', { reasoning: { context: 'some' } }],
    ['reasoning.mode', { reasoning: { mode: 'pro' } }],
    ['reasoning.max_tokens', { reasoning: { max_tokens: 9 } }],
    ...[
      'web_search',
      'web_search_preview',
      'file_search',
      'mcp',
      'code_interpreter',
      'image_generation',
      'computer',
      'computer_use_preview',
      'shell',
      'apply_patch',
    ].map((type) => ['tools[1].type', { tools: [f, { type }] }] as const),
    ['tools[0].async', { tools: [{ ...f, async: true }] }],
    ['tools[0].allowed_callers', { tools: [{ ...f, allowed_callers: ['programmatic'] }] }],
    ['tools[0].tools[0].type', { tools: [{ type: 'namespace', name: 'n', tools: [{ type: 'web_search' }] }] }],
    ['input[0].tools[0].type', item({ type: 'additional_tools', tools: [{ type: 'mcp' }] })],
    ['tool_choice.type', { tools: [f], tool_choice: { type: 'web_search' } }],
    [
      'tool_choice.tools',
      {
        tools: [f],
        tool_choice: { type: 'allowed_tools', mode: 'required', tools: [{ type: 'function', name: 'g' }] },
      },
    ],
    [
      'tool_choice.tools[1].type',
      { tools: [f], tool_choice: { type: 'allowed_tools', mode: 'auto', tools: [f, { type: 'mcp' }] } },
    ],
    ...['item_reference', 'web_search_call', 'mcp_call', 'computer_call', 'image_generation_call', 'constructor'].map(
      (type) => ['input[0].type', item({ type, id: 'x' })] as const,
    ),
    ['input[0].role', item({ role: 'critic', content: 'x' })],
    ['input[0].role', item({ role: 'constructor', content: 'x' })],
    ['input[0].async', item({ ...call, async: true })],
    ['input[0].caller', item({ ...call, caller: { type: 'program', caller_id: 'p' } })],
    ['input[0].content[1].file_id', part({ type: 'input_image', file_id: 'f' })],
    ['input[0].content[1].file_url', part({ type: 'input_file', file_url: 'https://a/b.pdf' })],
    ['input[0].content[1].detail', part({ type: 'input_file', file_id: 'f', detail: 'high' })],
    ['input[0].content[1].type', part({ type: 'computer_screenshot' })],
    [
      'input[0].output[0].type',
      item({ type: 'function_call_output', call_id: 'c', output: [{ type: 'computer_screenshot' }] }),
    ],
    ['messages', { messages: [] }],
    ['max_tokens', { max_tokens: 1, max_output_tokens: 2 }],
    ['reasoning_effort', { reasoning_effort: 'low', reasoning: { effort: 'high' } }],
    ['n', { n: 2 }],
    ['audio', { audio: { voice: 'x' } }],
    ['modalities', { modalities: ['text', 'audio'] }],
  ]
  for (const [param, request] of rows) {
    test(`${param} in ${JSON.stringify(request)}`, () => {
      const problem = problemOf(request)
      expect(problem.param).toBe(param)
      expect(problem.status).toBe(400)
      expect(problem.code).toBe('unsupported_parameter')
      expect(problem.message.startsWith(param)).toBe(true)
      expect(problem.message).toEndWith(' cannot be used with model m, whose upstream offers chat completions only')
    })
  }
})

describe('an invalid Responses request is rejected by name', () => {
  const rows: readonly (readonly [param: string, request: object])[] = [
    ['input', { input: undefined }],
    ['input', { input: null }],
    ['input', { input: 7 }],
    ['input', { input: [] }],
    ['input[0]', item('hi')],
    ['input[0].role', item({ content: 'x' })],
    ['input[0].role', item({ id: 'msg_1' })],
    ['input[0].type', item({ type: 7 })],
    ['input[0].content', item({ role: 'user' })],
    ['input[0].content', item({ role: 'user', content: 7 })],
    ['input[0].content[1]', part('x')],
    ['input[0].content[1].type', part({})],
    ['input[0].content[1].text', part({ type: 'input_text' })],
    ['input[0].content[1].image_url', part({ type: 'input_image' })],
    ['input[0].content[1]', part({ type: 'input_file' })],
    ['input[0].call_id', item({ ...call, call_id: undefined })],
    ['input[0].name', item({ ...call, name: 7 })],
    ['input[0].arguments', item({ ...call, arguments: {} })],
    ['input[0].output', item({ type: 'function_call_output', call_id: 'c' })],
    ['input[0].output', item({ type: 'function_call_output', call_id: 'c', output: {} })],
    ['input[0].call_id', item({ type: 'function_call_output', output: 'x' })],
    ['input[0].content', item({ type: 'reasoning', content: 'x' })],
    ['instructions', { instructions: [] }],
    ['tools', { tools: {} }],
    ['tools[0]', { tools: ['f'] }],
    ['tools[0].type', { tools: [{}] }],
    ['tools[0].name', { tools: [{ type: 'function' }] }],
    ['tools[0].name', { tools: [{ type: 'namespace', tools: [] }] }],
    ['tools[0].tools', { tools: [{ type: 'namespace', name: 'n' }] }],
    ['tools[0].tools[0]', { tools: [{ type: 'namespace', name: 'n', tools: ['f'] }] }],
    ['input[0].action', item({ type: 'local_shell_call', call_id: 'c' })],
    ['tool_choice', { tool_choice: 7 }],
    ['tool_choice.name', { tool_choice: { type: 'function' } }],
    ['tool_choice.tools', { tool_choice: { type: 'allowed_tools' } }],
    ['include', { include: 'x' }],
    ['text', { text: 'x' }],
    ['text.format', { text: { format: 'json' } }],
    ['text.format.name', { text: { format: { type: 'json_schema' } } }],
    ['reasoning', { reasoning: 'low' }],
    ['stream_options', { stream_options: true }],
  ]
  for (const [param, request] of rows) {
    test(`${param} in ${JSON.stringify(request)}`, () => {
      const problem = problemOf(request)
      expect(problem.param).toBe(param)
      expect(problem.status).toBe(400)
      expect(problem.message.startsWith(`${param} `)).toBe(true)
    })
  }
})
