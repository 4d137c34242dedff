export declare const budget: number;

export interface FirstLoad {
  path: string;
  files: string[];
  bytes: number;
}

export declare function firstLoads(language: 'en' | 'zh-CN'): FirstLoad[];
