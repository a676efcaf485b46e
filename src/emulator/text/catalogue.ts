import { TextRefusal } from './refusal.ts'

/** A model that generates text. */
export interface TextModel {
  readonly id: string
  /** default `emulated` */
  readonly ownedBy?: string
  /** seconds since 1970; default 1767225600 */
  readonly created?: number
  /** whether `/v1/chat/completions` knows it; default true */
  readonly chat?: boolean
  /** whether `/v1/responses` knows it; default true */
  readonly responses?: boolean
  /** whether it can stream; default true */
  readonly streams?: boolean
  /** whether it knows `stream_options`; default true */
  readonly streamOptions?: boolean
  /** the highest temperature; default 1 */
  readonly maxTemperature?: number
  /** the most tokens of one answer; default 32768 */
  readonly maxTokens?: number
  /** the most tokens of question and answer together; default 131072 */
  readonly contextTokens?: number
  /** whether it thinks aloud before it answers: never, when an effort is asked for, or always; default never */
  readonly reasoning?: 'never' | 'asked' | 'always'
}

/** A model with every default in place. */
export type Model = Required<TextModel>

/** The models of an emulator that was told nothing else. */
export const MODELS: readonly TextModel[] = [
  { id: 'doubao-seed-emulated', reasoning: 'asked' },
  { id: 'emulated-wide', maxTemperature: 2 },
  { id: 'emulated-chat-only', responses: false },
  { id: 'emulated-no-stream', streams: false },
  { id: 'emulated-no-stream-options', streamOptions: false },
  { id: 'emulated-2k', maxTokens: 2048 },
  { id: 'emulated-reasoner', reasoning: 'always' },
  { id: 'emulated-small', maxTokens: 64, contextTokens: 1024 },
  { id: 'emulated/odd name:v1' },
]

/** The models by their id. */
export interface Catalogue {
  readonly list: readonly Model[]
  /** throws 404 `model_not_found` */
  find(id: string): Model
}

export function catalogueOf(models: readonly TextModel[]): Catalogue {
  const list = models.map(complete)
  return {
    list,
    find(id) {
      const model = list.find((one) => one.id === id)
      if (model !== undefined) return model
      throw new TextRefusal(404, `The model \`${id}\` does not exist or you do not have access to it.`, {
        ...{ param: 'model', code: 'model_not_found' },
      })
    },
  }
}

/** The model object of the models endpoint. */
export function modelObject({ id, created, ownedBy }: Model): object {
  return { id, object: 'model', created, owned_by: ownedBy }
}

function complete(model: TextModel): Model {
  return {
    ...{ ownedBy: 'emulated', created: 1_767_225_600, chat: true, responses: true },
    ...{ streams: true, streamOptions: true },
    ...{ maxTemperature: 1, maxTokens: 32_768, contextTokens: 131_072, reasoning: 'never' },
    ...model,
  }
}
