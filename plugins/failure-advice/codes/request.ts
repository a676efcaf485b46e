import type { FailureEntries } from '../entry.ts'

/** The request itself is wrong, or names what does not exist. */
export const requestCodes: FailureEntries = {
  InvalidParameter: {
    change: 'parameter',
    en: 'A value of the request is not allowed, or not for this model. The message names it: correct it and send the request again.',
    zh: '请求中有一个参数不符合要求，或该模型不支持，错误信息里写明了是哪一个：请修改后重新提交。',
  },
  'InvalidParameter.UnsupportedParameter': {
    change: 'parameter',
    en: 'This model does not know one of the parameters. Remove it, or choose a model that has it.',
    zh: '该模型不支持其中一个参数：请去掉该参数，或改用支持它的模型。',
  },
  'InvalidParameter.TaskTypeConstraint': {
    change: 'parameter',
    en: 'The inputs do not fit the type of the task: editing and extending need a reference video, an adaptive ratio and a fitting duration.',
    zh: '输入内容与任务类型不符：编辑和延长视频需要参考视频、自适应画幅以及合适的时长。',
  },
  'InvalidParameter.TaskTypeMismatch': {
    change: 'other_prompt',
    en: 'The prompt asks for another type of task than the request names. Change one of the two.',
    zh: '提示词所要求的任务类型与请求中指定的不一致：请修改其中之一。',
  },
  'InvalidParameter.AssetID': {
    change: 'parameter',
    en: 'The id of the asset is not well formed. Copy it from the list of assets.',
    zh: '素材 ID 的格式不正确：请从素材列表中复制。',
  },
  'InvalidParameter.PageSize': {
    change: 'parameter',
    en: 'A page has at most 100 entries.',
    zh: '每页最多 100 条。',
  },
  MissingParameter: {
    change: 'parameter',
    en: 'A required value is missing. The message names it.',
    zh: '缺少必填参数，错误信息里写明了是哪一个。',
  },
  NotFound: {
    change: 'parameter',
    en: 'What the request names does not exist any more, or never did.',
    zh: '请求中引用的对象不存在，或已被删除。',
  },
  InvalidEndpointOrModel: {
    change: 'other_model',
    en: 'The model does not exist, or you may not use it. Choose another one of the list of models.',
    zh: '模型不存在，或您无权使用：请从模型列表中另选一个。',
  },
  ModelNotOpen: {
    by: 'operator',
    change: 'other_model',
    en: 'The model is not activated in the account. Choose another one, or ask the operator to activate it.',
    zh: '账号尚未开通该模型：请改用其他模型，或请管理员开通。',
  },
  InvalidAction: {
    by: 'operator',
    en: 'The upstream does not know this operation. The operator has to check its address and version.',
    zh: '上游不支持该操作：请管理员检查上游的地址和版本。',
  },
}
