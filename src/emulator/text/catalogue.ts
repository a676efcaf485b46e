import { OpenAIError } from './openai-error.ts'

/** A model that generates text. */
export interface TextModel {
  readonly id: string
  /** default `emulated` */
  readonly ownedBy?: string
  /** seconds since 1970; default 1767225600 */
  readonly created?: number
  /** whether `/v1/chat/completions` supports it; default true */
  readonly chat?: boolean
  /** whether `/v1/responses` supports it; default true */
  readonly responses?: boolean
  /** whether `/v1/completions` supports it; default false */
  readonly completions?: boolean
  /** whether `/v1/embeddings` supports it; default false */
  readonly embeddings?: boolean
  /** whether it supports streaming; default true */
  readonly streams?: boolean
  /** whether it supports `stream_options`; default true */
  readonly streamOptions?: boolean
  /** chat completions: the field of the maximum of output tokens; default `either` */
  readonly maxTokensField?: 'either' | 'max_tokens' | 'max_completion_tokens'
  /** chat completions: the field of reasoning; default `reasoning_content` */
  readonly reasoningField?: 'reasoning_content' | 'reasoning'
  /** maximum `temperature`; default 1 */
  readonly maxTemperature?: number
  /** maximum number of output tokens; default 32768 */
  readonly maxTokens?: number
  /** maximum number of tokens of the input; default 131072 */
  readonly contextTokens?: number
  /** whether it generates reasoning: never, when the request sets an effort (`asked`), or always; default never */
  readonly reasoning?: 'never' | 'asked' | 'always'
}

/** A model with all defaults applied. */
export type Model = Required<TextModel>

/** The default models. */
export const defaultModels: readonly TextModel[] = [
  { id: 'doubao-seed-emulated', reasoning: 'asked' },
  { id: 'emulated-wide', maxTemperature: 2 },
  { id: 'emulated-chat-only', responses: false },
  { id: 'emulated-no-stream', streams: false },
  { id: 'emulated-no-stream-options', streamOptions: false },
  { id: 'emulated-max-tokens', maxTokensField: 'max_tokens' },
  { id: 'emulated-max-completion-tokens', maxTokensField: 'max_completion_tokens' },
  { id: 'emulated-2k', maxTokens: 2048 },
  { id: 'emulated-reasoner', reasoning: 'always' },
  { id: 'emulated-reasoning-field', reasoning: 'always', reasoningField: 'reasoning' },
  { id: 'emulated-small', maxTokens: 64, contextTokens: 1024 },
  { id: 'emulated/odd name:v1' },
  { id: 'emulated-instruct', chat: false, responses: false, completions: true },
  { id: 'emulated-embedding', chat: false, responses: false, embeddings: true, contextTokens: 8192 },
]

/** The model catalogue. */
export interface Catalogue {
  readonly list: readonly Model[]
  /** the model with this id; throws 404 `model_not_found` */
  find(id: string): Model
}

/** Creates a catalogue and applies the defaults to its models. */
export const catalogueOf = (models: readonly TextModel[]): Catalogue => {
  const list = models.map(withDefaults)
  return {
    list,
    find(id) {
      const model = list.find((one) => one.id === id)
      if (model !== undefined) return model
      throw new OpenAIError(404, `The model \`${id}\` does not exist or you do not have access to it.`, {
        ...{ param: 'model', code: 'model_not_found' },
      })
    },
  }
}

/** The model object of `/v1/models`. */
export const modelObject = ({ id, created, ownedBy }: Model): object => ({
  id,
  object: 'model',
  created,
  owned_by: ownedBy,
})

const withDefaults = (model: TextModel): Model => ({
  ...{ ownedBy: 'emulated', created: 1_767_225_600, chat: true, responses: true },
  ...{ completions: false, embeddings: false },
  ...{ streams: true, streamOptions: true, maxTokensField: 'either', reasoningField: 'reasoning_content' },
  ...{ maxTemperature: 1, maxTokens: 32_768, contextTokens: 131_072, reasoning: 'never' },
  ...model,
})
