import { lastText, type Prompt, type Tool } from './prompt.ts'
import { sampleOf } from './sample.ts'
import type { Scene } from './scenario.ts'
import { tokensOf } from './tokens.ts'

/** The only result of every web search. */
export const source = {
  words: '(emulated.example)',
  title: 'Emulated results',
  url: 'https://emulated.example/results',
} as const

/** A tool call of the model, with its input as tokens. */
export interface ToolCall {
  readonly tool: Tool
  readonly input: readonly string[]
  /** false when the token limit truncated its input */
  readonly complete: boolean
}

/** One generated output, before it is serialized for an API. */
export interface Generation {
  /** reasoning tokens */
  readonly reasoning: readonly string[]
  /** tokens of the text */
  readonly text: readonly string[]
  /** whether the text is a refusal */
  readonly isRefusal: boolean
  readonly calls: readonly ToolCall[]
  /** whether it made a web search first */
  readonly searches: boolean
  readonly finish: 'stop' | 'length' | 'tool_calls'
}

/**
 * Generates the outputs of a prompt. The same prompt always gives the same outputs. The last user message decides:
 * - `call NAME` with the name of a tool: calls the tool, once for each occurrence. A `tool_choice` calls it too
 * - `refuse to answer`: a refusal
 * - `N tokens`: a text of exactly N tokens
 * - anything else: several sentences that quote the message, or JSON if the request sets a response format
 *
 * The text also quotes tool results that follow the message, and data of the account: earlier messages, items, file
 * names. A scene of a scenario replaces all of that.
 */
export const generate = (prompt: Prompt, scene?: Scene): Generation[] =>
  Array.from({ length: prompt.count }, (_, index) =>
    scene === undefined ? generateOne(prompt, index) : performed(scene, prompt),
  )

/** An output that is only a text. */
export const textGeneration = (text: string): Generation => ({
  ...{ reasoning: [], text: tokensOf(text), isRefusal: false, calls: [], searches: false, finish: 'stop' },
})

/** Counts the tokens of generated outputs. */
export const tokensIn = (generations: readonly Generation[]): { readonly all: number; readonly reasoning: number } => {
  const reasoning = generations.reduce((sum, one) => sum + one.reasoning.length, 0)
  const calls = generations.flatMap((one) => one.calls)
  const inputs = calls.reduce((sum, call) => sum + call.input.length, 0)
  return { all: generations.reduce((sum, one) => sum + one.text.length, reasoning + inputs), reasoning }
}

const generateOne = (prompt: Prompt, index: number): Generation => {
  const message = lastText(prompt, 'user')
  const take = createBudget(prompt.maxTokens)
  const reasoning = take(prompt.reasons ? tokensOf(reasoningOn(message)) : [])
  const calls = callsFor(prompt, message).map((tool) =>
    callOf(tool, tool.kind === 'custom' ? `input for ${tool.name}: ${message}` : argumentsFor(tool), take),
  )
  if (calls.length > 0) {
    const finish = take.over() ? 'length' : 'tool_calls'
    return { reasoning, text: [], isRefusal: false, calls, searches: false, finish }
  }
  const isRefusal = /\brefuse to answer\b/i.test(message)
  const whole = isRefusal ? 'I am sorry, but I cannot help with that. 抱歉。' : textFor(prompt, message, index)
  const text = take(tokensOf(stopped(whole, prompt.stops)))
  return { reasoning, text, isRefusal, calls: [], searches: prompt.searches, finish: take.over() ? 'length' : 'stop' }
}

const performed = ({ reason, say, calls: wanted }: Scene, { maxTokens, reasons, turns, stops }: Prompt): Generation => {
  const take = createBudget(maxTokens)
  const thought = reason ?? (reasons ? reasoningOn(lastText({ turns }, 'user')) : '')
  const reasoning = take(tokensOf(thought))
  const text = take(tokensOf(stopped(say, stops)))
  const calls = wanted.map(({ tool, text }) => callOf(tool, text, take))
  const finish = calls.length > 0 ? 'tool_calls' : 'stop'
  return { reasoning, text, isRefusal: false, calls, searches: false, finish: take.over() ? 'length' : finish }
}

const callOf = (tool: Tool, text: string, take: Budget): ToolCall => {
  const tokens = tokensOf(text)
  const input = take(tokens)
  return { tool, input, complete: input.length === tokens.length }
}

type Budget = ReturnType<typeof createBudget>

const createBudget = (tokens: number) => {
  let left = tokens
  let over = false
  const take = (wanted: readonly string[]) => {
    const given = wanted.slice(0, left)
    left -= given.length
    if (given.length < wanted.length) over = true
    return given
  }
  return Object.assign(take, { over: () => over })
}

const callsFor = ({ tools, choice, turns, parallel }: Prompt, message: string): Tool[] => {
  if (choice === 'none' || tools.length === 0) return []
  const named = (name: string) => tools.filter((tool) => tool.name === name)
  if (typeof choice === 'object') return named(choice.name)
  // the last message is a tool result: generate text, do not call the tool again
  const mayCall = turns.at(-1)?.role !== 'tool'
  const called = mayCall ? [...message.matchAll(/\bcall ([\w-]{1,64})/gi)].flatMap(([, name = '']) => named(name)) : []
  const wanted = called.length === 0 && choice === 'required' ? tools.slice(0, 1) : called
  return parallel ? wanted : wanted.slice(0, 1)
}

const argumentsFor = ({ schema, name }: Tool): string =>
  JSON.stringify(sampleOf({ type: 'object', ...schema }, `${name} ✓`))

const reasoningOn = (message: string): string =>
  `The user says “${[...message].slice(0, 40).join('')}”. Let me think about that: 想一想 🤔. I know what to answer.`

const textFor = (prompt: Prompt, message: string, index: number): string => {
  const { schema, turns } = prompt
  if (schema !== undefined) {
    const anyObject = Object.keys(schema).length === 0
    return JSON.stringify(anyObject ? { answer: message, characters: [...message].length } : sampleOf(schema, message))
  }
  const results = turns.slice(turns.findLastIndex((turn) => turn.role !== 'tool') + 1)
  const quoted = results.map(({ text }) => `The tool answered: “${text}”. `).join('')
  const which = index === 0 ? '' : `Answer ${index + 1}: `
  const recalled =
    prompt.referenced.length === 0 ? '' : ` I recall ${prompt.referenced.map((one) => `“${one}”`).join(', ')}.`
  const text =
    `${which}${quoted}You wrote: “${message}”.${recalled} I count ${[...message].length} characters in it, and I read them all. ` +
    'In other words: 你好，世界 — ça va, naïve café? 🌊👩‍👩‍👧 Ωμέγα. That is all I have to say about it.' +
    (prompt.searches ? ` I read so on the web ${source.words}.` : '')
  const wanted = message.match(/\b(\d{1,6}) tokens\b/)?.[1]
  return wanted === undefined ? text : lengthened(text, Number(wanted))
}

const lengthened = (text: string, count: number): string => {
  const tokens = tokensOf(text)
  for (let n = 1; tokens.length < count; n++) tokens.push(...tokensOf(` Sentence ${n} goes on with 好的 🙂.`))
  return tokens.slice(0, count).join('')
}

const stopped = (text: string, stops: readonly string[]): string => {
  const found = stops.map((stop) => text.indexOf(stop)).filter((at) => at >= 0)
  return found.length === 0 ? text : text.slice(0, Math.min(...found))
}
