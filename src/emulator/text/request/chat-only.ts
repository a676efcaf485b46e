import { isJson, type Json } from '../../shared/reader.ts'
import { OpenAIError } from '../openai-error.ts'

const wordsOf = (text: string): ReadonlySet<string> => new Set(text.split(/\s+/))

/** The fields of chat completions as they were before the newer APIs. Many compatible servers know no others. */
const fields = {
  request: wordsOf(
    `model messages stream stream_options temperature top_p max_tokens max_completion_tokens n stop seed response_format tools
    tool_choice parallel_tool_calls presence_penalty frequency_penalty logit_bias logprobs top_logprobs user reasoning_effort`,
  ),
  message: wordsOf('role content name tool_calls tool_call_id reasoning_content'),
  tool: wordsOf('type function'),
  function: wordsOf('name description parameters strict'),
}
const roles = wordsOf('system user assistant tool')
const parts = wordsOf('text image_url')

/**
 * Validates a chat completion request as a strict server does that knows chat completions only: no newer fields, no
 * role `developer`, functions as the only tools. Throws 400 in the words of OpenAI's older API.
 */
export const checkChatOnly = (body: Json): void => {
  const unknown = Object.keys(body).find((name) => !fields.request.has(name))
  if (unknown !== undefined) throw new OpenAIError(400, `Unrecognized request argument supplied: ${unknown}`)
  for (const [at, message] of objectsIn(body.messages, 'messages')) {
    checkKnown(message, fields.message, at)
    checkWord(message.role, roles, `${at}.role`)
    for (const [partAt, part] of objectsIn(message.content, `${at}.content`))
      checkWord(part.type, parts, `${partAt}.type`)
    for (const [callAt, call] of objectsIn(message.tool_calls, `${at}.tool_calls`)) checkFunction(call, callAt)
  }
  for (const [at, tool] of objectsIn(body.tools, 'tools')) {
    checkFunction(tool, at)
    checkKnown(tool, fields.tool, at)
    if (isJson(tool.function)) checkKnown(tool.function, fields.function, `${at}.function`)
  }
}

const checkFunction = ({ type }: Json, at: string): void => checkWord(type, new Set(['function']), `${at}.type`)

const checkKnown = (value: Json, known: ReadonlySet<string>, at: string): void => {
  const unknown = Object.keys(value).find((name) => !known.has(name))
  if (unknown === undefined) return
  throw new OpenAIError(400, `Additional properties are not allowed ('${unknown}' was unexpected) - '${at}'`)
}

const checkWord = (value: unknown, known: ReadonlySet<string>, at: string): void => {
  // the validation that follows rejects what is absent or no string
  if (typeof value !== 'string' || known.has(value)) return
  const list = [...known].map((word) => `'${word}'`).join(', ')
  throw new OpenAIError(400, `'${value}' is not one of [${list}] - '${at}'`)
}

const objectsIn = (value: unknown, at: string): readonly (readonly [at: string, object: Json])[] =>
  (Array.isArray(value) ? value : []).flatMap((one, index) => (isJson(one) ? [[`${at}.${index}`, one] as const] : []))
