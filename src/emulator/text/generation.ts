import { lastSaid, type Prompt, type Tool } from './prompt.ts'
import { sampleOf } from './sample.ts'
import { SOURCE } from './source.ts'
import { tokensOf } from './tokens.ts'

/** A tool that the model calls, with its input in tokens. */
export interface ToolCall {
  readonly tool: Tool
  readonly input: readonly string[]
  /** false when the limit cut its input off */
  readonly whole: boolean
}

/** One answer, before it is worded in a protocol. */
export interface Generation {
  /** what it thought aloud, in tokens */
  readonly reasoning: readonly string[]
  /** what it says, in tokens */
  readonly said: readonly string[]
  /** whether what it says is a refusal */
  readonly refuses: boolean
  readonly calls: readonly ToolCall[]
  readonly finish: 'stop' | 'length' | 'tool_calls'
}

/**
 * The answers to a prompt, a function of the prompt alone. What the last message of the user says decides:
 * - `call NAME`, NAME being a tool's: calls it, as often as it is said. So does a tool_choice
 * - `refuse to answer`: a refusal
 * - `N tokens`: an answer of exactly N tokens
 * - anything else: an answer of several sentences that repeats the message, or JSON where a format is asked for
 *
 * After a tool's result the answer quotes it, and it quotes what it took from the account: earlier turns, items, names of files and the like.
 */
export function generate(prompt: Prompt): Generation[] {
  return Array.from({ length: prompt.count }, (_, index) => generateOne(prompt, index))
}

/** How many tokens answers are made of. */
export function tokensIn(generations: readonly Generation[]): { readonly all: number; readonly reasoning: number } {
  const reasoning = generations.reduce((sum, made) => sum + made.reasoning.length, 0)
  const calls = generations.flatMap((made) => made.calls)
  const inputs = calls.reduce((sum, call) => sum + call.input.length, 0)
  return { all: generations.reduce((sum, made) => sum + made.said.length, reasoning + inputs), reasoning }
}

function generateOne(prompt: Prompt, index: number): Generation {
  const asked = lastSaid(prompt, 'user')
  const take = createBudget(prompt.maxTokens)
  const reasoning = take(prompt.reasons ? tokensOf(thoughtOn(asked)) : [])
  const calls = callsFor(prompt, asked).map((tool) => {
    const whole = tokensOf(tool.kind === 'custom' ? `input for ${tool.name}: ${asked}` : argumentsFor(tool))
    const input = take(whole)
    return { tool, input, whole: input.length === whole.length }
  })
  if (calls.length > 0) {
    const finish = take.over() ? 'length' : 'tool_calls'
    return { reasoning, said: [], refuses: false, calls, finish }
  }
  const refuses = /\brefuse to answer\b/i.test(asked)
  const words = refuses ? 'I am sorry, but I cannot help with that. 抱歉。' : answerTo(prompt, asked, index)
  const said = take(tokensOf(stopped(words, prompt.stops)))
  return { reasoning, said, refuses, calls: [], finish: take.over() ? 'length' : 'stop' }
}

function createBudget(tokens: number) {
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

function callsFor({ tools, choice, turns, parallel }: Prompt, asked: string): Tool[] {
  if (choice === 'none' || tools.length === 0) return []
  const named = (name: string) => tools.filter((tool) => tool.name === name)
  if (typeof choice === 'object') return named(choice.name)
  // a result that has just come in is answered, not asked for again
  const fresh = turns.at(-1)?.role !== 'tool'
  const called = fresh ? [...asked.matchAll(/\bcall ([\w-]{1,64})/gi)].flatMap(([, name = '']) => named(name)) : []
  const wanted = called.length === 0 && choice === 'required' ? tools.slice(0, 1) : called
  return parallel ? wanted : wanted.slice(0, 1)
}

function argumentsFor({ schema, name }: Tool): string {
  const made = sampleOf({ type: 'object', ...schema }, `${name} ✓`)
  return JSON.stringify(made)
}

function thoughtOn(asked: string): string {
  return `The user says “${[...asked].slice(0, 40).join('')}”. Let me think about that: 想一想 🤔. I know what to answer.`
}

function answerTo(prompt: Prompt, asked: string, index: number): string {
  const { schema, turns } = prompt
  if (schema !== undefined) {
    const plain = Object.keys(schema).length === 0
    return JSON.stringify(plain ? { answer: asked, characters: [...asked].length } : sampleOf(schema, asked))
  }
  const results = turns.slice(turns.findLastIndex((turn) => turn.role !== 'tool') + 1)
  const quoted = results.map(({ text }) => `The tool answered: “${text}”. `).join('')
  const which = index === 0 ? '' : `Answer ${index + 1}: `
  const recalled =
    prompt.recalled.length === 0 ? '' : ` I recall ${prompt.recalled.map((one) => `“${one}”`).join(', ')}.`
  const words =
    `${which}${quoted}You wrote: “${asked}”.${recalled} I count ${[...asked].length} characters in it, and I read them all. ` +
    'In other words: 你好，世界 — ça va, naïve café? 🌊👩‍👩‍👧 Ωμέγα. That is all I have to say about it.' +
    (prompt.searches ? ` I read so on the web ${SOURCE.words}.` : '')
  const wanted = asked.match(/\b(\d{1,6}) tokens\b/)?.[1]
  return wanted === undefined ? words : lengthened(words, Number(wanted))
}

function lengthened(words: string, tokens: number): string {
  const made = tokensOf(words)
  for (let n = 1; made.length < tokens; n++) made.push(...tokensOf(` Sentence ${n} goes on with 好的 🙂.`))
  return made.slice(0, tokens).join('')
}

function stopped(words: string, stops: readonly string[]): string {
  const found = stops.map((stop) => words.indexOf(stop)).filter((at) => at >= 0)
  return found.length === 0 ? words : words.slice(0, Math.min(...found))
}
