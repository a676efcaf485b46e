/** @type {typeof import('../en/chat.js').chat} */
export const chat = {
  chat: {
    title: '对话',
    model: '模型',
    noModel: '没有可用的模型',
    empty: '随便问点什么',
    emptyHint: '回答会逐字显示。对话只保留在本页面，刷新后消失。',
    you: '我',
    question: '问题',
    placeholder: '输入消息',
    keyboardHint: '按 Enter 发送，按 Shift 加 Enter 换行。',
    send: '发送',
    stop: '停止回答',
    stopped: '您停止了这个回答。',
    thinking: '正在回答。',
    reasoning: '思考过程',
    complete: '回答完毕',
    clear: '新对话',
    usage: (input, output) => `输入 ${input} 个 token，输出 ${output} 个 token`,
  },
}
